//! The first of several processes tells the others its address and the secret that lets them in.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bandgap_host::process::inherited;
use bandgap_socket::{Secret, nonce};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::failure::lost;
use crate::{Result, elsewhere, usage};

/// Between two looks for a file.
const LOOK: Duration = Duration::from_millis(20);
/// Longest wait for a process manager to acknowledge that a process ends.
const LEAVING: Duration = Duration::from_secs(1);
/// Longest line of a process manager, in bytes.
const LINE: usize = 4096;

/// What to do where processes do not meet through a file.
const PLACE: &str =
    "start bandgap in a directory of your own that all hosts see, or set BANDGAP_JOIN";

/// Where the first process is, and the secret that lets others in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Its addresses, at least one of them reachable.
    pub addresses: Vec<SocketAddr>,
    /// The secret that only this run's processes know.
    pub secret: Secret,
}

/// The process manager of a process whose rank also speaks with it. Drop tells the manager that the process ends in
/// order; otherwise it would end the other processes and lose the exit code.
#[derive(Debug)]
pub struct Kept(File);

impl Drop for Kept {
    fn drop(&mut self) {
        let Ok(file) = self.0.try_clone() else { return };
        let mut manager = Manager { file, last: true, until: Instant::now() + LEAVING };
        // A rank that ended in order has told it already.
        let _ = manager.ask("cmd=finalize");
    }
}

/// How the processes meet.
pub enum Way {
    /// The user names the address of the first process and a file with the secret.
    Given(Vec<SocketAddr>, Secret),
    /// Through the process manager (PMI-1: that of `mpiexec`, or srun's pmi2); the flag is whether nothing else will be
    /// asked of it.
    Manager(File, bool),
    /// Through a file that all processes see, at one of these paths.
    Shared(Vec<PathBuf>),
}

/// A published address. Drop removes its file, if there is one.
pub struct Published {
    /// The secret that only this run's processes know.
    pub secret: Secret,
    pub file: Option<PathBuf>,
    /// Must be kept until this process ends.
    pub kept: Option<Kept>,
}

impl Drop for Published {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // Somebody else may have removed it.
            let _ = fs::remove_file(file);
        }
    }
}

/// Writes the address of this process to a new file, for processes that a launcher starts.
///
/// # Errors
/// No directory takes it.
pub fn publish_for(port: u16) -> Result<Published> {
    shared(&format!("{}-{port}", std::process::id())).publish(port, Instant::now())
}

/// Meeting through a file in the current directory, or in the one for temporary files.
fn shared(name: &str) -> Way {
    let places = std::env::current_dir().ok().into_iter().chain([std::env::temp_dir()]);
    Way::Shared(places.map(|place| place.join(format!(".bandgap-{name}"))).collect())
}

/// The value of a variable that is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The connection to the process manager, if there is one that speaks PMI-1.
pub fn manager() -> Option<File> {
    inherited(variable("PMI_FD")?.parse().ok()?).ok().map(File::from)
}

/// How the processes started with this one meet. `apart`: each of them has a rank that will speak with the process
/// manager itself.
///
/// # Errors
/// The environment variables of the user are wrong, or nothing tells which processes belong together.
pub fn way(by: &str, size: usize, apart: bool) -> Result<Way> {
    if let Some(join) = variable("BANDGAP_JOIN") {
        let hint =
            "BANDGAP_JOIN=HOST:PORT of rank 0, and BANDGAP_SECRET_FILE with 16 bytes or more";
        return given(&join).map_err(|what| usage!("{what}").hint(hint));
    }
    // Slurm's PMI-2 also speaks the older dialect, but only once.
    if let Some(manager) = manager().filter(|_| !apart || variable("SLURM_STEP_ID").is_none()) {
        return Ok(Way::Manager(manager, !apart));
    }
    const JOB: [&str; 5] =
        ["SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PALS_APID"];
    let job: Vec<String> = JOB.iter().filter_map(|name| variable(name)).collect();
    let job = job.join("-").replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    if job.is_empty() {
        return Err(elsewhere!("find out which processes {by} started together")
            .hint("set BANDGAP_JOIN and BANDGAP_SECRET_FILE"));
    }
    Ok(shared(&format!("{job}-{size}")))
}

/// Meeting at the address in `BANDGAP_JOIN`.
fn given(join: &str) -> Result<Way, String> {
    let addresses =
        join.to_socket_addrs().map_err(|error| format!("use BANDGAP_JOIN={join}: {error}"))?;
    let file = variable("BANDGAP_SECRET_FILE").ok_or("join without BANDGAP_SECRET_FILE")?;
    let bytes = fs::read(&file).map_err(|error| format!("read the secret in {file}: {error}"))?;
    let secret = bytes.first_chunk();
    let secret = secret.ok_or_else(|| format!("use the secret in {file}: too short"))?;
    Ok(Way::Given(addresses.collect(), *secret))
}

impl Way {
    /// The port on which the first process must listen; 0 for any.
    pub fn port(&self) -> u16 {
        match self {
            Self::Given(addresses, _) => addresses.first().map_or(0, SocketAddr::port),
            _ => 0,
        }
    }

    /// Tells the others the port of the first process and the secret.
    ///
    /// # Errors
    /// There is no way to tell them.
    pub fn publish(self, port: u16, until: Instant) -> Result<Published> {
        match self {
            Self::Given(_, secret) => Ok(Published { secret, file: None, kept: None }),
            Self::Manager(file, last) => {
                let (secret, text) = told(port).map_err(lost)?;
                let kept = file.try_clone().ok().filter(|_| !last).map(Kept);
                Manager { file, last, until }.meet(Some(&text)).map_err(lost)?;
                Ok(Published { secret, file: None, kept })
            }
            Self::Shared(places) => {
                let (secret, text) = told(port).map_err(lost)?;
                let mut refused = Vec::new();
                for place in places {
                    match write(&place, &text) {
                        Ok(()) => return Ok(Published { secret, file: Some(place), kept: None }),
                        Err(error) => {
                            let why = format!("{}: {error}", place.display());
                            refused.push(of_another(&place).unwrap_or(why));
                        }
                    }
                }
                let refused = refused.join(", ");
                Err(elsewhere!("tell the other processes where this one is: {refused}").hint(PLACE))
            }
        }
    }

    /// Looks up where the first process is.
    ///
    /// # Errors
    /// The first process did not publish its address in time.
    pub fn look_up(self, until: Instant) -> Result<(Meeting, Option<Kept>)> {
        let wrong = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        match self {
            Self::Given(addresses, secret) => Ok((Meeting { addresses, secret }, None)),
            Self::Manager(file, last) => {
                let kept = file.try_clone().ok().filter(|_| !last).map(Kept);
                let text = Manager { file, last, until }.meet(None);
                let found = text.and_then(|text| Meeting::read(&text).ok_or_else(wrong));
                found.map(|found| (found, kept)).map_err(lost)
            }
            Self::Shared(places) => loop {
                let texts = places.iter().filter_map(|place| own(place));
                if let Some(found) = texts.filter_map(|text| Meeting::read(&text)).next() {
                    return Ok((found, None));
                }
                if Instant::now() > until {
                    let why = "it has written no file in this directory".to_owned();
                    let why = places.iter().find_map(|of| of_another(of)).unwrap_or(why);
                    return Err(elsewhere!("find the first process: {why}").hint(PLACE));
                }
                std::thread::sleep(LOOK);
            },
        }
    }
}

/// A new secret, and the text for the other processes: addresses and secret.
fn told(port: u16) -> std::io::Result<(Secret, String)> {
    let secret = nonce()?;
    let mut addresses: Vec<IpAddr> = if_addrs::get_if_addrs()?
        .iter()
        .filter(|one| !one.is_link_local())
        .map(|one| one.ip())
        .collect();
    // Network addresses first: each host has the same loopback address.
    addresses.sort_by_key(|address| (address.is_loopback(), address.is_ipv6()));
    let addresses: Vec<String> = addresses
        .into_iter()
        .map(|address| SocketAddr::from((address, port)).to_string())
        .collect();
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((secret, format!("{}/{hex}.", addresses.join(","))))
}

impl Meeting {
    /// Parses the text of [`told`]; `None` if it is incomplete.
    fn read(text: &str) -> Option<Self> {
        let (addresses, hex) = text.trim().strip_suffix('.')?.split_once('/')?;
        let addresses: Option<Vec<SocketAddr>> =
            addresses.split(',').map(|address| address.parse().ok()).collect();
        let byte = |at: usize| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..hex.len() / 2).map(byte).collect();
        Some(Self { addresses: addresses?, secret: bytes?.try_into().ok()? })
    }
}

/// Which of the two files of [`write`] is another user's, and whose.
fn of_another(place: &Path) -> Option<String> {
    [place.with_extension("part"), place.to_owned()].iter().find_map(|path| {
        let user = fs::symlink_metadata(path).ok()?.uid();
        let is_ours = user == geteuid().as_raw();
        (!is_ours).then(|| format!("{} belongs to user {user}", path.display()))
    })
}

/// Writes a file atomically, readable only by its owner.
fn write(place: &Path, text: &str) -> std::io::Result<()> {
    let part = place.with_extension("part");
    // A killed run may have left one.
    let _ = fs::remove_file(&part);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    file.write_all(text.as_bytes()).and_then(|()| fs::rename(&part, place)).inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })
}

/// The text of a file that belongs to this user and that nobody else may read.
fn own(place: &Path) -> Option<String> {
    // Others may have put something else there, such as a pipe.
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(place).ok()?;
    let about = file.metadata().ok().filter(|about| about.is_file())?;
    let mine = about.uid() == geteuid().as_raw() && about.mode() & 0o077 == 0;
    let mut text = String::new();
    file.read_to_string(&mut text).ok().filter(|_| mine)?;
    Some(text)
}

/// A process manager that speaks PMI-1.
struct Manager {
    file: File,
    /// Whether neither this process nor its children will speak with it afterwards.
    last: bool,
    until: Instant,
}

impl Manager {
    /// Puts the first process's text, waits for all processes, and gets the text.
    fn meet(mut self, said: Option<&str>) -> std::io::Result<String> {
        self.ask("cmd=init pmi_version=1 pmi_subversion=1")?;
        let space = value(&self.ask("cmd=get_my_kvsname")?, "kvsname")?;
        if let Some(said) = said {
            self.ask(&format!("cmd=put kvsname={space} key=bandgap value={said}"))?;
        }
        self.ask("cmd=barrier_in")?;
        let found = value(&self.ask(&format!("cmd=get kvsname={space} key=bandgap"))?, "value")?;
        if self.last {
            self.ask("cmd=finalize")?;
        }
        Ok(found)
    }

    /// Sends a line and waits for the answer.
    fn ask(&mut self, line: &str) -> std::io::Result<String> {
        self.file.write_all(format!("{line}\n").as_bytes())?;
        let mut answer = Vec::new();
        while answer.last() != Some(&b'\n') {
            let left = self.until.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).ok();
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], timeout.as_ref()) {
                Ok(0) => return Err(std::io::ErrorKind::TimedOut.into()),
                Err(Errno::INTR) => continue,
                found => found?,
            };
            let mut byte = [0];
            if self.file.read(&mut byte)? == 0 || answer.len() == LINE {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            answer.extend(byte);
        }
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

/// The value of a key in a manager's answer.
fn value(answer: &str, name: &str) -> std::io::Result<String> {
    let words = answer.split_whitespace().filter_map(|word| word.split_once('='));
    let found = words.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next();
    found.ok_or_else(|| {
        std::io::Error::other(format!("the process manager says: {}", answer.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_reads_back_and_no_part_of_it_does() {
        let (secret, text) = told(4000).unwrap();
        let meeting = Meeting::read(&text).unwrap();
        assert_eq!(meeting.secret, secret);
        assert!(meeting.addresses.iter().all(|address| address.port() == 4000));
        assert!(!meeting.addresses.is_empty());
        for end in 0..text.len() {
            assert_eq!(Meeting::read(&text[..end]), None, "{}", &text[..end]);
        }
    }

    #[test]
    fn files_of_others_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join(".bandgap-1-2");
        write(&place, "said").unwrap();
        // A second run in the same place replaces it.
        write(&place, "again").unwrap();
        assert_eq!(own(&place).as_deref(), Some("again"));
        fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        assert_eq!(own(&place), None);
    }

    #[test]
    fn what_cannot_be_published_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // No file takes the place of a directory.
        let place = folder.path().join(".bandgap-1-2");
        fs::create_dir(&place).unwrap();
        let failed = Way::Shared(vec![place]).publish(4000, Instant::now());
        assert_eq!(failed.err().map(|failed| failed.exit), Some(crate::Exit::Remote));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_of_another_user_is_named_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join(".bandgap-1-2");
        write(&place, &told(4000).unwrap().1).unwrap();
        assert_eq!(of_another(&place), None);
        // Only root may give files away.
        if std::os::unix::fs::chown(&place, Some(12_345), None).is_ok() {
            let failed = Way::Shared(vec![place.clone()]).look_up(Instant::now()).unwrap_err();
            let facts = [place.display().to_string(), "12345".to_owned()];
            assert!(facts.iter().all(|fact| failed.what.contains(fact)), "{}", failed.what);
        }
    }

    #[test]
    fn what_was_published_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join(".bandgap-1-2");
        let until = Instant::now() + Duration::from_secs(60);
        let published = Way::Shared(vec![place.clone()]).publish(4000, until).unwrap();
        let (found, _) = Way::Shared(vec![place.clone()]).look_up(until).unwrap();
        assert_eq!(found.secret, published.secret);
        drop(published);
        assert!(!place.exists());
        let gone = Way::Shared(vec![place]).look_up(Instant::now());
        assert_eq!(gone.unwrap_err().exit, crate::Exit::Remote);
    }
}

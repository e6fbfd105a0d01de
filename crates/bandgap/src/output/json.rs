//! The file that `--json` names.

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, ErrorKind, Write};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use bandgap_launch::{Exit, Failure, Result, signalled};
use bandgap_record::{can_replace, replace};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// Between two looks whether somebody reads a pipe.
const LOOK: Duration = Duration::from_millis(20);

/// The file for the run as JSON.
pub struct JsonFile {
    named: PathBuf,
    /// The path with its links resolved.
    real: PathBuf,
    /// Whether it is a regular file, which is replaced at each write. Anything else, such as a pipe, is written once.
    pub replaced: bool,
    /// A name of the system that only one run has for this file. It is gone when this process is.
    held: Option<UnixListener>,
}

impl JsonFile {
    /// Checks that the file can be written, without changing it.
    ///
    /// # Errors
    /// It cannot.
    pub fn open(named: &Path) -> Result<Self> {
        let real = fs::canonicalize(named).unwrap_or_else(|_| named.to_owned());
        let replaced = !real.exists() || real.is_file();
        let mut file = Self { named: named.to_owned(), real, replaced, held: None };
        if file.replaced {
            let hint = "name a file in a directory that exists and is writable";
            can_replace(&file.real).map_err(|error| file.unwritable(&error).hint(hint))?;
            file.held = match file.hold() {
                Err(error) if error.kind() == ErrorKind::AddrInUse => {
                    let taken = io::Error::other("another run is writing it");
                    return Err(file.unwritable(&taken).hint("name another file with --json"));
                }
                held => held.ok(),
            };
        }
        Ok(file)
    }

    fn hold(&self) -> io::Result<UnixListener> {
        let mut hasher = DefaultHasher::new();
        std::path::absolute(&self.real)?.hash(&mut hasher);
        let name = format!("bandgap-json-{:016x}", hasher.finish());
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)
    }

    /// Writes the run as of now.
    ///
    /// # Errors
    /// Writing failed; a regular file then keeps its old contents.
    pub fn write(&self, json: &[u8]) -> Result<()> {
        let direct = || -> io::Result<()> {
            let mut file = self.opened()?;
            fcntl_setfl(&file, fcntl_getfl(&file)?.difference(OFlags::NONBLOCK))?;
            file.write_all(json)
        };
        let written = if self.replaced { replace(&self.real, json) } else { direct() };
        written.map_err(|error| self.unwritable(&error))
    }

    /// Opens it, if it is a pipe once somebody reads it, unless a signal asks to end before.
    fn opened(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
        loop {
            match options.open(&self.real) {
                Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                    if let Some(signal) = signalled() {
                        let what = format!("nobody has read it until {signal} came");
                        return Err(io::Error::other(what));
                    }
                    thread::sleep(LOOK);
                }
                opened => return opened,
            }
        }
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        Failure::new(Exit::Output, format!("write {}: {error}", self.named.display()))
    }
}

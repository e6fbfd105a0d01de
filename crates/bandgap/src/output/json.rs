//! The file that `--json` names.

use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, ErrorKind, Write};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use bandgap_launch::{Exit, Failure, Result, signalled};
use bandgap_record::{can_replace, replace};

/// Between two looks whether a pipe was read; a hundred are the time for it, even after a signal.
const LOOK: Duration = Duration::from_millis(5);

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
            can_replace(&file.real).map_err(|error| unwritten(named, &error).hint(hint))?;
            file.held = match file.hold() {
                Err(error) if error.kind() == ErrorKind::AddrInUse => {
                    let taken = io::Error::other("another run is writing it");
                    return Err(unwritten(named, &taken).hint("name another file with --json"));
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
        let written =
            if self.replaced { replace(&self.real, json) } else { self.read_by_somebody(json) };
        written.map_err(|error| unwritten(&self.named, &error))
    }

    /// Writes to what may be a pipe that nobody reads: a signal then ends the wait.
    fn read_by_somebody(&self, json: &[u8]) -> io::Result<()> {
        let (path, json, begun) = (self.real.clone(), json.to_vec(), Instant::now());
        let write = move || OpenOptions::new().write(true).open(path)?.write_all(&json);
        let writer = thread::spawn(write);
        while !writer.is_finished() {
            if let Some(signal) = signalled().filter(|_| begun.elapsed() > 100 * LOOK) {
                return Err(io::Error::other(format!("nobody has read it until {signal} came")));
            }
            thread::sleep(LOOK);
        }
        writer.join().unwrap_or_else(|_| Err(ErrorKind::Other.into()))
    }
}

/// Failure to write a file.
pub fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Exit::Output, format!("write {}: {error}", path.display()))
}

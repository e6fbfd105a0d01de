//! The file that `--json` names.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Seek, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bandgap_launch::{Exit, Failure};
use bandgap_record::{can_replace, replace};
use bandgap_results::is_of_kept_run;
use rustix::fs::{CWD, Mode, OFlags, fcntl_getfl, fcntl_setfl, openat};
use rustix::io::Errno;

/// Longest wait for somebody who reads a named pipe, which may be started beside this program.
const READER: Duration = Duration::from_secs(1);
/// Time between two looks for them.
const LOOKS: Duration = Duration::from_millis(10);

/// How it is known that nobody came.
const NO_READER: ErrorKind = ErrorKind::NotConnected;

/// Where the run goes as JSON. Until it is there whole, what was there before is.
pub struct JsonFile {
    named: PathBuf,
    /// The file itself, behind all links.
    real: PathBuf,
    /// What is no file, or cannot be replaced, is written to directly.
    open: Option<File>,
}

impl JsonFile {
    /// Makes sure that the file can be written, and changes nothing yet.
    ///
    /// # Errors
    /// It cannot, or it is the run file of a kept run, whose other files would no longer fit.
    pub fn open(named: &Path) -> Result<Self, Failure> {
        if is_of_kept_run(&real(named)) {
            let what = format!("write {}: it is the run file of a kept run", named.display());
            return Err(Failure::new(Exit::Output, what).hint("name another file"));
        }
        Self::opened(named).map_err(|error| {
            let hint = match error.kind() {
                NO_READER => "start what reads it first, or name a file",
                _ => "name a file in a directory that exists and is writable",
            };
            unwritable(named, &error).hint(hint)
        })
    }

    fn opened(named: &Path) -> io::Result<Self> {
        let real = real(named);
        let found = fs::metadata(&real).ok().map(|found| found.file_type());
        let there = match found {
            Some(kind) if kind.is_fifo() => Some(open_pipe(&real)?),
            Some(_) => Some(OpenOptions::new().write(true).open(&real)?),
            None => None,
        };
        let is_file = found.is_some_and(|kind| kind.is_file());
        let open = match (there, can_replace(&real)) {
            (None, refused) => refused.map(|()| None)?,
            (Some(_), Ok(())) if is_file => None,
            (there, _) => there,
        };
        Ok(Self { named: named.to_owned(), real, open })
    }

    /// The path as it was named.
    pub fn path(&self) -> &Path {
        &self.named
    }

    /// Whether it can be written again and again, so that it always has what there is by then.
    pub fn keeps(&self) -> bool {
        self.open.is_none()
    }

    /// Writes the run as it is now.
    ///
    /// # Errors
    /// It could not be written whole. A file that can be replaced has then its old contents.
    pub fn write(&self, json: &[u8]) -> Result<(), Failure> {
        let written = match &self.open {
            None => replace(&self.real, json),
            Some(open) => write_over(open, json),
        };
        written.map_err(|error| unwritable(&self.named, &error))
    }
}

/// A path behind all links.
fn real(named: &Path) -> PathBuf {
    fs::canonicalize(named).unwrap_or_else(|_| named.to_owned())
}

/// Opens a named pipe, which somebody reads. One without a reader would be waited for, without an end.
fn open_pipe(path: &Path) -> io::Result<File> {
    let open = |flags| openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC | flags, Mode::empty());
    let begun = Instant::now();
    let pipe = loop {
        match open(OFlags::NONBLOCK) {
            Err(Errno::NXIO) if begun.elapsed() < READER => std::thread::sleep(LOOKS),
            opened => break opened,
        }
    };
    let pipe = pipe.map_err(|error| match error {
        Errno::NXIO => io::Error::new(NO_READER, "nobody reads this pipe"),
        error => error.into(),
    })?;
    // A reader may be slow.
    fcntl_setfl(&pipe, fcntl_getfl(&pipe)? - OFlags::NONBLOCK)?;
    Ok(pipe.into())
}

fn write_over(mut open: &File, json: &[u8]) -> io::Result<()> {
    if open.metadata()?.is_file() {
        open.rewind()?;
        open.set_len(0)?;
    }
    open.write_all(json)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Exit::Output, format!("write {}: {error}", path.display()))
}

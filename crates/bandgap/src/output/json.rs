//! The file that `--json` names.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use bandgap_launch::{Exit, Failure};
use bandgap_record::{can_replace, replace};

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
    /// It cannot.
    pub fn open(named: &Path) -> Result<Self, Failure> {
        Self::opened(named).map_err(|error| {
            unwritable(named, &error).hint("name a file in a directory that exists and is writable")
        })
    }

    fn opened(named: &Path) -> io::Result<Self> {
        let real = fs::canonicalize(named).unwrap_or_else(|_| named.to_owned());
        let found = fs::metadata(&real);
        let there = match &found {
            Ok(_) => Some(OpenOptions::new().write(true).open(&real)?),
            Err(_) => None,
        };
        let is_file = found.is_ok_and(|found| found.is_file());
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

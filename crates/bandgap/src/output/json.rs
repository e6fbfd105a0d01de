//! The file that `--json` names.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bandgap_launch::{Exit, Failure, Result};
use bandgap_record::{can_replace, replace};

/// The file for the run as JSON.
pub struct JsonFile {
    named: PathBuf,
    /// The file itself, behind all links.
    real: PathBuf,
    /// Whether it is a regular file, which is replaced at each write. Anything else, such as a pipe, is written once.
    pub replaced: bool,
}

impl JsonFile {
    /// Checks that the file can be written, without changing it.
    ///
    /// # Errors
    /// It cannot.
    pub fn open(named: &Path) -> Result<Self> {
        let real = fs::canonicalize(named).unwrap_or_else(|_| named.to_owned());
        let replaced = !real.exists() || real.is_file();
        let file = Self { named: named.to_owned(), real, replaced };
        if file.replaced {
            let hint = "name a file in a directory that exists and is writable";
            can_replace(&file.real).map_err(|error| file.unwritable(&error).hint(hint))?;
        }
        Ok(file)
    }

    /// Writes the run as of now.
    ///
    /// # Errors
    /// Writing failed; a regular file then keeps its old contents.
    pub fn write(&self, json: &[u8]) -> Result<()> {
        let direct = || OpenOptions::new().write(true).open(&self.real)?.write_all(json);
        let written = if self.replaced { replace(&self.real, json) } else { direct() };
        written.map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        Failure::new(Exit::Output, format!("write {}: {error}", self.named.display()))
    }
}

//! The directory of a run: `run.json` and other files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::RecordError;
use crate::replace::{can_replace, replace};
use crate::run::{RUN_FILE, utc};

/// The file of what a run has measured so far. A finished run has none.
pub const JOURNAL: &str = "journal.jsonl";

/// A directory for one run and nothing else.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// Directories created for the run, innermost first. Drop removes them if they are still empty.
    made: Vec<PathBuf>,
    /// Locked until this process ends in any way, where the file system has locks.
    journal: File,
    /// Whether the journal is this run's, and goes with it.
    is_own: bool,
}

impl RunDir {
    /// Uses `path` for a run: a new directory or an empty one.
    ///
    /// # Errors
    /// The path is not a directory, is not empty, is used by another run, or is not writable; and other errors of the
    /// file system.
    pub fn create(path: &Path) -> Result<RunDir, RecordError> {
        let made = Self::makes(path)?;
        let entries = fs::read_dir(path).map_err(at("open the directory", path))?;
        match entries.flatten().find(|entry| entry.file_name() != JOURNAL) {
            Some(_) => Err(RecordError::NotEmpty(path.to_owned())),
            None => Self::hold(path.to_owned(), made),
        }
    }

    /// Creates a directory in `parent`, named after the UTC time and the command: `20261121T012331Z-signature`. If
    /// the name is taken, it gets a number.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn create_in(parent: &Path, command: &str, now: SystemTime) -> Result<RunDir, RecordError> {
        let mut made = Self::makes(parent)?;
        let name = format!("{}-{command}", utc(now, "%Y%m%dT%H%M%SZ"));
        let mut number = 1;
        let mut path = parent.join(&name);
        while let Err(error) = fs::create_dir(&path) {
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(at("create the directory", &path)(error));
            }
            number += 1;
            path = parent.join(format!("{name}-{number}"));
        }
        made.insert(0, path.clone());
        Self::hold(path, made)
    }

    /// Takes over the directory of a killed run, with its journal.
    ///
    /// # Errors
    /// The run is still going on, or the directory is not writable.
    pub fn take_up(path: &Path) -> Result<RunDir, RecordError> {
        let journal = Self::locked(path, OpenOptions::new().append(true))?;
        RunDir { path: path.to_owned(), made: Vec::new(), journal, is_own: false }.takes_files()
    }

    /// Whether a killed run left its journal in this directory.
    ///
    /// # Errors
    /// The run is still going on, and has no results yet.
    pub fn is_left(path: &Path) -> Result<bool, RecordError> {
        match Self::locked(path, OpenOptions::new().append(true)) {
            Err(taken @ RecordError::Taken(_)) if !path.join(RUN_FILE).exists() => Err(taken),
            journal => Ok(journal.is_ok_and(|of| of.metadata().is_ok_and(|of| of.len() > 0))),
        }
    }

    /// Creates and locks the journal of a directory for which others were `made`.
    fn hold(path: PathBuf, made: Vec<PathBuf>) -> Result<Self, RecordError> {
        let journal = Self::locked(&path, OpenOptions::new().create(true).append(true))?;
        if journal.metadata().map_err(at("read the journal in", &path))?.len() > 0 {
            return Err(RecordError::Unfinished(path));
        }
        RunDir { path, made, journal, is_own: true }.takes_files()
    }

    fn locked(path: &Path, how: &OpenOptions) -> Result<File, RecordError> {
        let journal = how.open(path.join(JOURNAL));
        let journal = journal.map_err(at("make files in the directory", path))?;
        match journal.try_lock() {
            Err(TryLockError::WouldBlock) => Err(RecordError::Taken(path.to_owned())),
            // A file system without locks.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(journal),
        }
    }

    /// Creates the directory and its missing parents, and returns these, innermost first.
    fn makes(path: &Path) -> Result<Vec<PathBuf>, RecordError> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made = path.ancestors().take_while(missing).map(Path::to_owned).collect();
        fs::create_dir_all(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                RecordError::NotADirectory(path.to_owned())
            }
            _ => at("create the directory", path)(error),
        })?;
        Ok(made)
    }

    /// Checks that files can be created in the directory.
    fn takes_files(self) -> Result<RunDir, RecordError> {
        let made = can_replace(&self.path.join(RUN_FILE));
        made.map_err(at("make files in the directory", &self.path))?;
        Ok(self)
    }

    /// The journal, to be written; it is removed with this.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn journal(&self) -> Result<File, RecordError> {
        self.journal.try_clone().map_err(at("write a journal in", &self.path))
    }

    /// Lets the journal of a killed run go, too, since its results are written.
    pub fn finish(&mut self) {
        self.is_own = true;
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file atomically, as [`replace`] does, and returns its path. The name may contain a folder.
    ///
    /// # Errors
    /// Errors of the file system, such as a full disk, with the path.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, RecordError> {
        let path = self.path.join(name);
        let parent = path.parent().unwrap_or(&self.path);
        let make = || if name.contains('/') { fs::create_dir_all(parent) } else { Ok(()) };
        make().and_then(|()| replace(&path, bytes)).map_err(at("write", &path))?;
        Ok(path)
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        if self.is_own && !std::thread::panicking() {
            let _ = fs::remove_file(self.path.join(JOURNAL));
        }
        // This fails for a directory that is not empty.
        let _ = self.made.iter().try_for_each(fs::remove_dir);
    }
}

fn at<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> RecordError + 'a {
    move |source| RecordError::Io { action, path: path.to_owned(), source }
}

/// A CSV table with a header.
///
/// # Errors
/// The table cannot be written.
pub fn csv<'a>(
    columns: &[&str],
    records: impl IntoIterator<Item = Vec<std::borrow::Cow<'a, str>>>,
) -> Result<Vec<u8>, RecordError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(columns).map_err(RecordError::Csv)?;
    for record in records {
        csv.write_record(record.iter().map(|cell| cell.as_bytes())).map_err(RecordError::Csv)?;
    }
    csv.into_inner().map_err(|error| RecordError::Csv(error.into_error().into()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn takes_a_new_or_an_empty_directory_only() {
        let parent = tempfile::tempdir().unwrap();
        let fresh = parent.path().join("a/b");
        let run = RunDir::create(&fresh).unwrap();
        run.write("notes.txt", b"x").unwrap();
        drop(run);
        assert!(matches!(RunDir::create(&fresh), Err(RecordError::NotEmpty(_))));
        let file = fresh.join("notes.txt");
        assert!(matches!(RunDir::create(&file), Err(RecordError::NotADirectory(_))));
        assert!(RunDir::create(&file.join("c")).is_err());
    }

    #[test]
    fn what_was_made_for_a_run_that_wrote_nothing_goes_with_it() {
        let parent = tempfile::tempdir().unwrap();
        drop(RunDir::create(&parent.path().join("a/b")).unwrap());
        assert!(!parent.path().join("a").exists());
        fs::create_dir(parent.path().join("own")).unwrap();
        drop(RunDir::create(&parent.path().join("own")).unwrap());
        assert!(parent.path().join("own").exists());
    }

    #[test]
    fn a_run_is_left_once_nobody_writes_it() {
        let parent = tempfile::tempdir().unwrap();
        let is_left = || RunDir::is_left(parent.path());
        let run = RunDir::create(parent.path()).unwrap();
        io::Write::write_all(&mut run.journal().unwrap(), b"x").unwrap();
        assert!(matches!(is_left(), Err(RecordError::Taken(_))));
        // It is about to end.
        run.write(RUN_FILE, b"{}").unwrap();
        assert!(matches!(is_left(), Ok(false)));
        drop(run);
        fs::write(parent.path().join(JOURNAL), b"x").unwrap();
        assert!(matches!(is_left(), Ok(true)));
    }

    #[test]
    fn names_of_the_same_second_differ() {
        let parent = tempfile::tempdir().unwrap();
        let now = UNIX_EPOCH + Duration::from_secs(1_792_000_000);
        let name = |run: &RunDir| run.path().file_name().unwrap().to_str().unwrap().to_owned();
        let create = || RunDir::create_in(&parent.path().join("runs"), "signature", now).unwrap();
        // 1 792 000 000 s after 1970 is 2026-10-14 17:46:40 UTC: day 20740 and 64 000 s of it.
        let [first, second] = [create(), create()];
        assert_eq!(name(&first), "20261014T174640Z-signature");
        assert_eq!(name(&second), "20261014T174640Z-signature-2");
        assert_eq!(name(&create()), "20261014T174640Z-signature-3");
    }

    #[test]
    fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunDir::create(parent.path()).unwrap();
        run.write("samples.csv", b"a longer first version").unwrap();
        let path = run.write("samples.csv", b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        drop(run);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_names_the_file() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunDir::create(&parent.path().join("gone")).unwrap();
        fs::remove_dir_all(run.path()).unwrap();
        let error = run.write("run.json", b"{}").unwrap_err();
        let path = parent.path().join("gone/run.json");
        assert!(matches!(error, RecordError::Io { path: named, .. } if named == path));
    }
}

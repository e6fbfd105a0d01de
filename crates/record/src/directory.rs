//! The directory of one run: `run.json` and the files beside it.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use crate::replace::{can_replace, replace};
use crate::run::{RUN_FILE, utc};
use crate::{RecordError, Run};

/// A directory that holds one run and nothing else. Nobody else takes it while this is there.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// The directory, locked; not where the file system knows no locks.
    _taken: Option<File>,
}

impl RunDir {
    /// Takes `path` for a run: a directory that does not exist yet, or an empty one that no other run has taken.
    ///
    /// # Errors
    /// A path that is no directory, is not empty, is taken, or takes no files; and those of the file system.
    pub fn create(path: &Path) -> Result<RunDir, RecordError> {
        let path = path.to_owned();
        fs::create_dir_all(&path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                RecordError::NotADirectory { path: path.clone() }
            }
            _ => at("create the directory", &path)(error),
        })?;
        let taken = take(&path)?;
        let mut entries = fs::read_dir(&path).map_err(at("open the directory", &path))?;
        match entries.next() {
            Some(_) => Err(RecordError::NotEmpty { path }),
            None => Self::writable(path, taken),
        }
    }

    /// The directory, if files can be made in it.
    fn writable(path: PathBuf, taken: Option<File>) -> Result<RunDir, RecordError> {
        can_replace(&path.join(RUN_FILE)).map_err(at("make files in the directory", &path))?;
        Ok(RunDir { path, _taken: taken })
    }

    /// Makes a new directory under `parent`, named after the UTC time and the command:
    /// `20261121T012331Z-signature`. A number is added while the name is taken.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create_in(parent: &Path, command: &str, now: SystemTime) -> Result<RunDir, RecordError> {
        fs::create_dir_all(parent).map_err(at("create the directory", parent))?;
        let name = format!("{}-{command}", utc(now, "%Y%m%dT%H%M%SZ"));
        let mut path = parent.join(&name);
        let mut number = 1;
        loop {
            match fs::create_dir(&path) {
                Ok(()) => {
                    let made = take(&path).and_then(|taken| Self::writable(path.clone(), taken));
                    if made.is_err() {
                        // What cannot be used is not left behind; what failed is told.
                        let _ = fs::remove_dir(&path);
                    }
                    return made;
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    number += 1;
                    path = parent.join(format!("{name}-{number}"));
                }
                Err(error) => return Err(at("create the directory", &path)(error)),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `run.json`, in place of an earlier one if there is any.
    ///
    /// # Errors
    /// A number that is not finite, and those of [`RunDir::write`].
    pub fn write_run<R: Serialize>(&self, run: &Run<R>) -> Result<PathBuf, RecordError> {
        self.write(RUN_FILE, run.to_json()?.as_bytes())
    }

    /// Writes a file whole or not at all: whoever reads it while this runs, or after the machine
    /// stopped, finds the old contents or the new ones. Returns its path.
    ///
    /// # Errors
    /// A name that is neither a plain file name nor one in a folder of the run, `FOLDER/NAME`; and
    /// those of the file system (a full disk among them), with the path.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, RecordError> {
        let (folder, file) = match name.split_once('/') {
            Some((folder, file)) => (Some(folder), file),
            None => (None, name),
        };
        if !folder.into_iter().chain([file]).all(is_plain) {
            return Err(RecordError::FileName { name: name.to_owned() });
        }
        let parent = match folder {
            Some(folder) => self.path.join(folder),
            None => self.path.clone(),
        };
        let path = parent.join(file);
        let make = || if folder.is_some() { fs::create_dir_all(&parent) } else { Ok(()) };
        make().and_then(|()| replace(&path, bytes)).map_err(at("write", &path))?;
        Ok(path)
    }
}

/// Locks a directory for this run, as long as the file is open.
fn take(path: &Path) -> Result<Option<File>, RecordError> {
    let directory = File::open(path).map_err(at("open the directory", path))?;
    match directory.try_lock() {
        Ok(()) => Ok(Some(directory)),
        Err(TryLockError::WouldBlock) => Err(RecordError::Taken { path: path.to_owned() }),
        // Not every file system knows locks.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Whether a name is that of something in the directory itself.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
}

fn at<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> RecordError + 'a {
    move |source| RecordError::Io { action, path: path.to_owned(), source }
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
        let taken = RunDir::create(&fresh).unwrap_err().to_string();
        assert!(taken.contains("a/b for the run's files: another run uses it"), "{taken}");
        drop(run);
        let run = RunDir::create(&fresh).unwrap();
        run.write("notes.txt", b"x").unwrap();
        drop(run);
        let message = RunDir::create(&fresh).unwrap_err().to_string();
        assert!(message.contains("a/b for the run's files: it is not empty"), "{message}");
        assert!(message.contains("name another directory"), "{message}");

        let file = fresh.join("notes.txt");
        assert!(matches!(RunDir::create(&file), Err(RecordError::NotADirectory { .. })));
        assert!(RunDir::create(&file.join("c")).unwrap_err().to_string().contains("notes.txt/c"));
    }

    #[test]
    fn names_of_the_same_second_differ() {
        let parent = tempfile::tempdir().unwrap();
        let now = UNIX_EPOCH + Duration::from_secs(1_792_000_000);
        let name = |run: RunDir| run.path().file_name().unwrap().to_str().unwrap().to_owned();
        let create = || RunDir::create_in(&parent.path().join("runs"), "signature", now).unwrap();
        // 1 792 000 000 s after 1970 is 2026-10-14 17:46:40 UTC: day 20740 and 64 000 s of it.
        assert_eq!(name(create()), "20261014T174640Z-signature");
        assert_eq!(name(create()), "20261014T174640Z-signature-2");
        assert_eq!(name(create()), "20261014T174640Z-signature-3");
    }

    #[test]
    fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunDir::create(parent.path()).unwrap();
        run.write("samples.csv", b"a longer first version").unwrap();
        let path = run.write("samples.csv", b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_name_cannot_leave_the_directory() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunDir::create(parent.path()).unwrap();
        let path = run.write("folder/file", b"within").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"within");
        assert!(path.starts_with(parent.path().join("folder")));
        for name in ["../x", "/x", "a/b/c", "a/../b", "a//b", "a/", "/a/b", "", ".", ".."] {
            let error = run.write(name, b"").unwrap_err();
            assert!(matches!(error, RecordError::FileName { .. }), "{name}: {error}");
        }
    }

    #[test]
    fn a_failed_write_names_the_file() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunDir::create(&parent.path().join("gone")).unwrap();
        fs::remove_dir(run.path()).unwrap();
        let error = run.write("run.json", b"{}").unwrap_err();
        assert!(
            error.to_string().starts_with("write ") && error.to_string().ends_with("gone/run.json")
        );
    }
}

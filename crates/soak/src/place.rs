//! Where a trial takes place: directories of its own, a small file system, a group with little memory.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

use crate::SoakError;
use crate::error::Doing;

/// The directories of a trial. They are removed with it.
#[derive(Debug)]
pub struct Place {
    root: Option<TempDir>,
    path: PathBuf,
    mounted: bool,
    group: Option<PathBuf>,
}

impl Place {
    /// New ones, which belong to `user`.
    ///
    /// # Errors
    /// The system refused.
    pub fn new(user: Option<u32>) -> Result<Self, SoakError> {
        let root = tempfile::Builder::new().prefix("soak-").tempdir();
        let root = root.doing(|| "make a directory".to_owned())?;
        let place =
            Self { path: root.path().to_owned(), root: Some(root), mounted: false, group: None };
        for folder in [place.work(), place.temporary(), place.disk()] {
            fs::create_dir(&folder).doing(|| format!("make {}", folder.display()))?;
            chown(&folder, user, user).doing(|| format!("give {} away", folder.display()))?;
        }
        chown(&place.path, user, user).doing(|| "give a directory away".to_owned())?;
        Ok(place)
    }

    /// The working directory.
    pub fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// What the run gets as TMPDIR.
    pub fn temporary(&self) -> PathBuf {
        self.path.join("temporary")
    }

    fn disk(&self) -> PathBuf {
        self.path.join("disk")
    }

    /// Where the run is to be kept.
    pub fn run(&self) -> PathBuf {
        if self.mounted { self.disk().join("run") } else { self.work().join("run") }
    }

    /// From now on the run is to be kept on a file system of so many bytes.
    ///
    /// # Errors
    /// It cannot be mounted, as a rule for lack of rights.
    pub fn with_disk(&mut self, bytes: u64) -> Result<(), SoakError> {
        let options = std::ffi::CString::new(format!("size={bytes}")).unwrap_or_default();
        mount("soak", self.disk(), "tmpfs", MountFlags::empty(), options.as_c_str())
            .doing(|| "mount a small file system".to_owned())?;
        self.mounted = true;
        Ok(())
    }

    /// A memory group with a limit of so many bytes; what joins it has no more.
    ///
    /// # Errors
    /// There are no groups, or no right to make one.
    pub fn with_memory(&mut self, bytes: u64) -> Result<PathBuf, SoakError> {
        let name = self.path.file_name().unwrap_or_default().to_owned();
        let roots =
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        let what = || "make a memory group".to_owned();
        let mut last = Err(std::io::Error::from(std::io::ErrorKind::NotFound));
        for (root, limit) in roots {
            let group = Path::new(root).join(&name);
            last = fs::create_dir(&group);
            if last.is_err() {
                continue;
            }
            self.group = Some(group.clone());
            last = fs::write(group.join(limit), bytes.to_string());
            if last.is_ok() {
                // Swapping would only make it slow; where it cannot be forbidden there mostly is none.
                let _ = fs::write(group.join("memory.swappiness"), "0");
                return Ok(group);
            }
            self.leave_group();
        }
        last.doing(what)?;
        Err(std::io::Error::from(std::io::ErrorKind::NotFound)).doing(what)
    }

    fn leave_group(&mut self) {
        if let Some(group) = self.group.take() {
            // What is left in it, if anything, has been named as a leftover.
            let _ = fs::remove_dir(group);
        }
    }

    /// What lies in the directory for temporary files, and unfinished files of the run.
    pub fn temporaries(&self) -> Vec<PathBuf> {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> =
            entries(&self.temporary()).map(|entry| entry.path()).collect();
        for folder in [self.run(), self.run().join("gnuplot")] {
            let unfinished = entries(&folder).map(|entry| entry.path()).filter(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
            });
            found.extend(unfinished);
        }
        found
    }

    /// Keeps everything; returns where.
    pub fn keep(mut self) -> PathBuf {
        if self.mounted {
            // What was on it is copied out, as far as it goes.
            let run = self.run();
            let saved = self.path.join("run-on-disk");
            let _ = fs::create_dir(&saved);
            for entry in fs::read_dir(run).into_iter().flatten().flatten() {
                let _ = fs::copy(entry.path(), saved.join(entry.file_name()));
            }
        }
        if let Some(root) = self.root.take() {
            let _ = root.keep();
        }
        self.path.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.mounted {
            // Removing the directory would fail otherwise, and says so by leaving it.
            let _ = unmount(self.disk(), UnmountFlags::DETACH);
        }
        self.leave_group();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_goes_with_its_trial_unless_it_is_kept() {
        let place = Place::new(None).unwrap();
        let gone = place.work();
        assert!(gone.is_dir());
        drop(place);
        assert!(!gone.exists());
        let kept = Place::new(None).unwrap().keep();
        assert!(kept.join("work").is_dir());
        fs::remove_dir_all(kept).unwrap();
    }

    #[test]
    fn what_is_left_unfinished_is_found() {
        let place = Place::new(None).unwrap();
        fs::create_dir(place.run()).unwrap();
        assert_eq!(place.temporaries(), Vec::<PathBuf>::new());
        fs::write(place.run().join("run.json"), "").unwrap();
        assert_eq!(place.temporaries(), Vec::<PathBuf>::new());
        fs::write(place.run().join(".unfinished-1"), "").unwrap();
        fs::write(place.temporary().join("x"), "").unwrap();
        assert_eq!(place.temporaries().len(), 2);
    }
}

//! Where a trial takes place: directories of its own, a small file system, a group with little memory.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
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
        let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
        for (root, limit) in roots {
            let group = Path::new(root).join(&name);
            if let Err(error) = fs::create_dir(&group) {
                last = error;
                continue;
            }
            self.group = Some(group.clone());
            match fs::write(group.join(limit), bytes.to_string()) {
                Ok(()) => {
                    // Swapping would only make it slow; where it cannot be forbidden there mostly is none.
                    let _ = fs::write(group.join("memory.swappiness"), "0");
                    return Ok(group);
                }
                Err(error) => last = error,
            }
            self.leave_group();
        }
        Err(last).doing(|| "make a memory group".to_owned())
    }

    /// Whether a file without a name can be made where shared memory lies that the kernel gives no other way.
    pub fn takes_nameless_files(&self) -> bool {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let takes = |place: PathBuf| rustix::fs::open(place, flags, Mode::RUSR | Mode::WUSR);
        [PathBuf::from("/dev/shm"), self.temporary()].into_iter().any(|place| takes(place).is_ok())
    }

    fn leave_group(&mut self) {
        if let Some(group) = self.group.take() {
            // What is left in it, if anything, has been named as a leftover.
            let _ = fs::remove_dir(group);
        }
    }

    /// What is there beside the run: whatever lies in the directory for temporary files, or beside the run's directory; and
    /// within that what begins with a dot, as unfinished files do, is empty, or is neither a file nor a directory.
    pub fn strays(&self) -> Vec<PathBuf> {
        let run = self.run();
        let mut found = entries(&self.temporary());
        for folder in [self.work(), self.disk()] {
            found.extend(entries(&folder).into_iter().filter(|path| *path != run));
        }
        strays_within(&run, &mut found);
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

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn strays_within(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let kind = fs::symlink_metadata(&path).map(|kind| kind.file_type());
        let is_folder = kind.as_ref().is_ok_and(fs::FileType::is_dir);
        let is_file = kind.as_ref().is_ok_and(fs::FileType::is_file);
        if hidden || !(is_folder || is_file) || (is_folder && entries(&path).is_empty()) {
            found.push(path);
        } else if is_folder {
            strays_within(&path, found);
        }
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
    use std::collections::BTreeSet;

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
    fn what_does_not_belong_to_the_run_is_found() {
        let place = Place::new(None).unwrap();
        let [run, work] = [place.run(), place.work()];
        fs::create_dir_all(run.join("gnuplot")).unwrap();
        fs::write(run.join("run.json"), "").unwrap();
        fs::write(run.join("gnuplot/x.gp"), "").unwrap();
        assert_eq!(place.strays(), Vec::<PathBuf>::new());
        let fifo = run.join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, Mode::RUSR).unwrap();
        let strays = [
            run.join(".unfinished-1"),
            run.join("gnuplot/.unfinished-2"),
            place.temporary().join("x"),
            work.join("core"),
        ];
        for stray in &strays {
            fs::write(stray, "").unwrap();
        }
        let empty = run.join("empty");
        fs::create_dir(&empty).unwrap();
        let found: BTreeSet<PathBuf> = place.strays().into_iter().collect();
        let expected: BTreeSet<PathBuf> = strays.into_iter().chain([fifo, empty]).collect();
        assert_eq!(found, expected);
    }
}

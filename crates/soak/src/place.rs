//! Directories of a trial, and its small file system if it needs one.

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

/// Directories of a trial. They are removed when the value is dropped.
pub(crate) struct TrialDir {
    root: TempDir,
    mounted: bool,
}

impl TrialDir {
    /// Creates the directories.
    pub fn new() -> io::Result<Self> {
        let place =
            Self { root: tempfile::Builder::new().prefix("soak-").tempdir()?, mounted: false };
        for folder in ["work", "temporary", "disk"] {
            fs::create_dir(place.path(folder))?;
        }
        Ok(place)
    }

    /// A path in the trial's directory: `work` is the working directory, `temporary` the run's
    /// TMPDIR.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Run directory.
    pub fn run(&self) -> PathBuf {
        self.path(if self.mounted { "disk" } else { "work" }).join("run")
    }

    /// Moves the run directory to a new file system of `bytes` bytes. Mounting it needs root.
    pub fn with_disk(&mut self, bytes: u64) -> io::Result<()> {
        let options = CString::new(format!("size={bytes}"))?;
        mount("soak", self.path("disk"), "tmpfs", MountFlags::empty(), options.as_c_str())?;
        self.mounted = true;
        Ok(())
    }

    /// Runs that were kept in the directory for temporary files instead.
    pub fn rescued(&self) -> Vec<PathBuf> {
        let mut found = entries(&self.path("temporary"));
        found.retain(|path| path.join("run.json").exists());
        found
    }

    /// Files and directories that should not be there: anything besides the run and rescued runs,
    /// and hidden (unfinished) files in these.
    pub fn strays(&self) -> Vec<PathBuf> {
        let mut runs = self.rescued();
        runs.push(self.run());
        let mut found: Vec<PathBuf> = ["work", "temporary", "disk"]
            .iter()
            .flat_map(|name| entries(&self.path(name)))
            .collect();
        found.retain(|path| !runs.contains(path));
        let hidden = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
        };
        found.extend(runs.iter().flat_map(|run| entries(run)).filter(hidden));
        found
    }

    /// Keeps everything except the small file system, and returns the path.
    pub fn keep(mut self) -> PathBuf {
        self.root.disable_cleanup(true);
        self.root.path().to_owned()
    }
}

impl Drop for TrialDir {
    fn drop(&mut self) {
        if self.mounted {
            // If unmounting fails, the directory cannot be removed, and stays as a sign of that.
            let _ = unmount(self.path("disk"), UnmountFlags::DETACH);
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

//! Where a trial takes place: directories of its own, and perhaps a small file system.

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

/// The directories of a trial. They are removed with it.
pub(crate) struct Place {
    root: TempDir,
    mounted: bool,
}

impl Place {
    /// New ones.
    pub fn new() -> io::Result<Self> {
        let place =
            Self { root: tempfile::Builder::new().prefix("soak-").tempdir()?, mounted: false };
        for folder in ["work", "temporary", "disk"] {
            fs::create_dir(place.path(folder))?;
        }
        Ok(place)
    }

    /// Something in it: `work` is the working directory, `temporary` what the run gets as TMPDIR.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Where the run is to be kept.
    pub fn run(&self) -> PathBuf {
        self.path(if self.mounted { "disk" } else { "work" }).join("run")
    }

    /// From now on the run is to be kept on a file system of so many bytes, which takes root to mount.
    pub fn with_disk(&mut self, bytes: u64) -> io::Result<()> {
        let options = CString::new(format!("size={bytes}"))?;
        mount("soak", self.path("disk"), "tmpfs", MountFlags::empty(), options.as_c_str())?;
        self.mounted = true;
        Ok(())
    }

    /// Runs that are kept elsewhere: in the directory for temporary files.
    pub fn rescued(&self) -> Vec<PathBuf> {
        let mut found = entries(&self.path("temporary"));
        found.retain(|path| path.join("run.json").exists());
        found
    }

    /// What is there beside the run and what was rescued; and within these, hidden files, as unfinished ones are.
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

    /// Keeps everything but the small file system; returns where.
    pub fn keep(mut self) -> PathBuf {
        self.root.disable_cleanup(true);
        self.root.path().to_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.mounted {
            // Removing the directory would fail otherwise, and says so by leaving it.
            let _ = unmount(self.path("disk"), UnmountFlags::DETACH);
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

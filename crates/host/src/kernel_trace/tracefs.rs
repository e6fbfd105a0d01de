//! The files of the kernel's tracing.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::HostError;

/// Where tracefs is usually mounted, if it is.
const USUAL: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// tracefs: where it is mounted, or mounted for this process without a place in the file system.
#[derive(Debug)]
pub(super) struct Tracefs {
    root: PathBuf,
    /// Of a mount of its own, which ends with it.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// tracefs, if this process may use it.
    ///
    /// # Errors
    /// [`HostError::Untraceable`] if it may not, or the kernel has none.
    pub(super) fn find() -> Result<Self, HostError> {
        let mounted = USUAL.iter().map(Path::new).find(|path| is_usable(path));
        if let Some(path) = mounted {
            return Ok(Self { root: path.to_owned(), _mount: None });
        }
        let mount =
            mount().map_err(|error| unmounted(rustix::process::geteuid().is_root(), error))?;
        // Ranks come to it through the process that holds it.
        let root = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), mount.as_raw_fd()));
        if is_usable(&root) {
            return Ok(Self { root, _mount: Some(mount) });
        }
        Err(unusable(&root))
    }

    /// Where its files are.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}

/// Whether instances can be made there.
fn is_usable(root: &Path) -> bool {
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(root.join("instances"), access).is_ok()
}

/// A mount that has no place in the file system: it ends when its descriptor is closed.
fn mount() -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// Why there is no tracefs, and what to do.
pub(super) fn unmounted(is_root: bool, error: rustix::io::Errno) -> HostError {
    use rustix::io::Errno;
    let (problem, advice) = match error {
        Errno::PERM | Errno::ACCESS if !is_root => (
            "only root may, and this process is not root's".to_owned(),
            "run it as root, or leave out what asks for the kernel's events".to_owned(),
        ),
        Errno::NODEV => (
            "it has no tracefs".to_owned(),
            "use a kernel with CONFIG_FTRACE, or leave out what asks for its events".to_owned(),
        ),
        error => (
            format!("tracefs is not mounted, and cannot be for this process alone: {error}"),
            "mount it with `mount -t tracefs tracefs /sys/kernel/tracing`; after `unshare --mount sh` \
             that ends with the shell"
                .to_owned(),
        ),
    };
    HostError::Untraceable { problem, advice }
}

/// tracefs is there, but has no room for an instance.
pub(super) fn unusable(root: &Path) -> HostError {
    HostError::Untraceable {
        problem: format!("no instance can be made in {}", root.display()),
        advice: "use a kernel with CONFIG_TRACING, and run it as root".to_owned(),
    }
}

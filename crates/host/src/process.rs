//! How the processes of a run depend on each other, and whether they are stopped.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::{HostError, Result, system_file};

/// Asks the kernel to kill this process when its parent ends, and checks that the parent, process
/// `parent`, has not already ended.
///
/// The kernel ties the calling thread to the *thread* that started this process. So call this from
/// the main thread, and start ranks from a thread of the launcher that outlives them.
///
/// # Errors
/// [`HostError::Orphaned`] if the parent is now another process, [`HostError::System`] if the
/// kernel refuses.
pub fn die_with_parent(parent: u32) -> Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(HostError::system("tie this process to its parent (PR_SET_PDEATHSIG)"))?;
    // Checked after the request: otherwise a parent that ended in between would go unnoticed.
    let found = getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
    if found == parent { Ok(()) } else { Err(HostError::Orphaned { expected: parent, found }) }
}

/// Duplicates an inherited descriptor that the parent left open and named.
///
/// # Errors
/// There is no such descriptor.
pub fn inherited(descriptor: i32) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::ErrorKind::NotFound.into());
    }
    // SAFETY: it is borrowed for one call, which fails if there is no such descriptor.
    unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()
}

/// Whether process `pid` is stopped, by a signal or by a debugger.
pub fn is_stopped(pid: u32) -> bool {
    stopped(Path::new("/"), &pid.to_string()).unwrap_or(false)
}

fn stopped(root: &Path, pid: &str) -> Option<bool> {
    let stat = system_file::text(root, &format!("proc/{pid}/stat"))?;
    // The name, in brackets, may contain anything; the state follows it (proc(5)).
    let (_, rest) = stat.rsplit_once(") ")?;
    Some(rest.starts_with(['T', 't']))
}

/// Whether this process ignores a signal, as `nohup` arranges for SIGHUP.
pub fn ignores(signal: Signal) -> bool {
    ignored(Path::new("/")).is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

fn ignored(root: &Path) -> Option<u64> {
    let status = system_file::text(root, "proc/self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::Tree;

    #[test]
    fn a_process_that_is_stopped_is_told_from_others() {
        let tree = Tree::new();
        assert_eq!(stopped(tree.root(), "7"), None);
        for (state, is) in [("R", false), ("S", false), ("T", true), ("t", true)] {
            tree.file("proc/7/stat", &format!("7 (a) T) {state} 1 7 7 0 -1 64 2"));
            assert_eq!(stopped(tree.root(), "7"), Some(is), "{state}");
        }
        assert!(!is_stopped(std::process::id()));
    }

    #[test]
    fn ignored_signals_are_read_from_their_mask() {
        let tree = Tree::new();
        assert_eq!(ignored(tree.root()), None);
        tree.file(
            "proc/self/status",
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0",
        );
        // Bits 0 and 12: SIGHUP is 1, SIGPIPE 13.
        assert_eq!(ignored(tree.root()), Some(0x1001));
    }

    #[test]
    fn a_parent_that_is_another_process_is_noticed() {
        // No process is its own parent. The kernel forgets the request when this test's thread
        // ends.
        let error = die_with_parent(std::process::id()).unwrap_err();
        assert!(matches!(error, HostError::Orphaned { .. }), "{error}");
    }
}

//! How the processes of a run depend on each other, and whether they live.

use std::path::Path;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::{HostError, system_file};

/// Asks the kernel to kill this process when its parent ends, and checks that the parent, process
/// `parent`, has not already ended.
///
/// The kernel ties the calling thread to the *thread* that started this process. So call this from
/// the main thread, and start ranks from a thread of the launcher that outlives them.
///
/// # Errors
/// [`HostError::Orphaned`] if the parent is now another process, [`HostError::System`] if the
/// kernel refuses.
pub fn die_with_parent(parent: u32) -> Result<(), HostError> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(HostError::system("tie this process to its parent (PR_SET_PDEATHSIG)"))?;
    // Checked after the request: otherwise a parent that ended in between would go unnoticed.
    let found = getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
    if found == parent { Ok(()) } else { Err(HostError::Orphaned { expected: parent, found }) }
}

/// What /proc tells of a process's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// Whether it is stopped, by a signal or by a debugger.
    pub stopped: bool,
    /// A number that grows with what it does: processor time, page faults, changes to and from it.
    pub done: u64,
}

/// The life of process `pid`; `None` if there is no such process.
#[must_use]
pub fn life(pid: u32) -> Option<Life> {
    life_of(Path::new("/"), &pid.to_string())
}

fn life_of(root: &Path, pid: &str) -> Option<Life> {
    let stat = system_file::text(root, &format!("proc/{pid}/stat"))?;
    // The name, in brackets, may hold anything; proc(5) counts the fields after it from 3 on.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let worked = [10, 12, 14, 15].into_iter().filter_map(field);
    let status = system_file::text(root, &format!("proc/{pid}/status")).unwrap_or_default();
    let changes = status.lines().filter_map(|line| line.split_once("ctxt_switches:"));
    let changes = changes.filter_map(|(_, count)| count.trim().parse::<u64>().ok());
    let stopped = ["T", "t"].contains(fields.first()?);
    Some(Life { stopped, done: worked.chain(changes).fold(0, u64::wrapping_add) })
}

/// Whether this process ignores a signal, as `nohup` arranges for SIGHUP.
#[must_use]
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
    fn a_process_that_works_is_told_from_one_that_is_stopped() {
        let tree = Tree::new();
        assert_eq!(life_of(tree.root(), "7"), None);
        // Fields 10 (minor faults), 12 (major faults), 14 and 15 (time used): 2 + 3 + 40 + 50.
        tree.file("proc/7/stat", "7 (a) T) R 1 7 7 0 -1 64 2 9 3 9 40 50 0 0 20 0 1 0 99 0");
        let life = |stopped, done| Some(Life { stopped, done });
        assert_eq!(life_of(tree.root(), "7"), life(false, 95));
        tree.file(
            "proc/7/status",
            "Name: a\nvoluntary_ctxt_switches:\t100\nnonvoluntary_ctxt_switches:\t5",
        );
        assert_eq!(life_of(tree.root(), "7"), life(false, 200));
        for state in ["T", "t"] {
            tree.file("proc/7/stat", &format!("7 (a) {state} 1 7 7 0 -1 64 2 9 3 9 40 50 0"));
            assert_eq!(life_of(tree.root(), "7"), life(true, 200));
        }
        assert!(super::life(std::process::id()).is_some_and(|own| !own.stopped && own.done > 0));
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

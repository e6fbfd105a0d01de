//! How the processes of a run depend on each other.

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::HostError;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_that_is_another_process_is_noticed() {
        // No process is its own parent. The kernel forgets the request when this test's thread
        // ends.
        let error = die_with_parent(std::process::id()).unwrap_err();
        assert!(matches!(error, HostError::Orphaned { .. }), "{error}");
    }
}

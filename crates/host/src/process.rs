//! What the launcher and its ranks need from the operating system.
//!
//! Invariant of the unsafe code: the kernel writes only into the slice that the caller passes, and
//! the kernel checks the address in the other process.

use rustix::process::{
    PTracer, Pid, Signal, getppid, set_parent_process_death_signal, set_ptracer,
};

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

/// Lets any process of this user read this one's memory, even where the kernel (Yama) allows that
/// only to its ancestors. Has no effect on a kernel without this restriction.
///
/// # Errors
/// [`HostError::System`] if the kernel refuses.
pub fn allow_reading() -> Result<(), HostError> {
    match set_ptracer(PTracer::Any) {
        // A kernel without Yama does not know the request, and has no restriction.
        Ok(()) | Err(rustix::io::Errno::INVAL) => Ok(()),
        Err(error) => {
            Err(HostError::system("allow other processes to read this one (PR_SET_PTRACER)")(error))
        }
    }
}

/// Copies bytes at `address` in process `process` into `into`. Returns how many were copied: fewer
/// than asked for if part of the range is not mapped.
///
/// # Errors
/// [`HostError::System`] if there is no such process, no permission (see [`allow_reading`]), or no
/// memory at `address`.
pub fn read_process(process: u32, address: u64, into: &mut [u8]) -> Result<usize, HostError> {
    let refused =
        HostError::system::<std::io::Error>("read another process's memory (process_vm_readv)");
    let (Some(pid), Ok(address)) =
        (i32::try_from(process).ok().and_then(Pid::from_raw), usize::try_from(address))
    else {
        return Err(refused(std::io::ErrorKind::InvalidInput.into()));
    };
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote =
        libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: into.len() };
    // SAFETY: there is one vector on each side. `local` is the exclusively borrowed `into`, which
    // outlives the call. `remote` is not dereferenced here; the kernel checks it.
    let read = unsafe {
        libc::process_vm_readv(
            pid.as_raw_nonzero().get(),
            &raw const local,
            1,
            &raw const remote,
            1,
            0,
        )
    };
    usize::try_from(read).map_err(|_| refused(std::io::Error::last_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_own_memory_through_the_kernel() {
        let from: Vec<u8> = (0..=255).collect();
        let mut into = vec![0_u8; 256];
        let address = from.as_ptr().addr() as u64;
        assert_eq!(read_process(std::process::id(), address, &mut into).unwrap(), 256);
        assert_eq!(into, from);
    }

    #[test]
    fn a_wrong_address_or_process_is_an_error_not_a_crash() {
        let mut into = [0_u8; 8];
        assert!(read_process(std::process::id(), 8, &mut into).is_err());
        assert!(read_process(0, 8, &mut into).is_err());
        assert!(read_process(u32::MAX, 8, &mut into).is_err());
    }

    #[test]
    fn a_parent_that_is_another_process_is_noticed() {
        // No process is its own parent. The kernel forgets the request when this test's thread
        // ends.
        let error = die_with_parent(std::process::id()).unwrap_err();
        assert!(matches!(error, HostError::Orphaned { .. }), "{error}");
    }
}

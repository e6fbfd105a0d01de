//! What the launcher and its ranks need of the operating system.
//!
//! Invariant of the unsafe code: the kernel writes only into the slice that the caller lends, and
//! checks the address in the other process itself.

use rustix::process::{
    PTracer, Pid, Signal, getppid, set_parent_process_death_signal, set_ptracer,
};

use crate::HostError;

/// Has the kernel kill this process when its parent ends; checks that the parent, process
/// `parent`, has not ended already.
///
/// The kernel ties the calling thread to the *thread* that started this process: call this from
/// the main thread, and start ranks from a thread of the launcher that outlives them.
///
/// # Errors
/// [`HostError::Orphaned`] when the parent is another process by now, [`HostError::System`] when
/// the kernel refuses.
pub fn die_with_parent(parent: u32) -> Result<(), HostError> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| HostError::System {
        operation: "tie this process to its parent (PR_SET_PDEATHSIG)",
        source: error.into(),
    })?;
    // Only after the request: a parent that ended before it would otherwise go unnoticed.
    let found = getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
    if found == parent { Ok(()) } else { Err(HostError::Orphaned { expected: parent, found }) }
}

/// Lets any process of this user read this one's memory where the kernel restricts that to
/// descendants (Yama). Does nothing where there is no such restriction.
///
/// # Errors
/// [`HostError::System`] when the kernel refuses.
pub fn allow_reading() -> Result<(), HostError> {
    match set_ptracer(PTracer::Any) {
        // Kernels without Yama do not know the request, and do not restrict either.
        Ok(()) | Err(rustix::io::Errno::INVAL) => Ok(()),
        Err(error) => Err(HostError::System {
            operation: "allow other processes to read this one (PR_SET_PTRACER)",
            source: error.into(),
        }),
    }
}

/// Copies bytes at `address` of process `process` into `into`; returns how many, which is fewer
/// than asked when the range ends in memory that is not there.
///
/// # Errors
/// [`HostError::System`]: no such process, no permission (see [`allow_reading`]), or no memory at
/// `address`.
pub fn read_process(process: u32, address: u64, into: &mut [u8]) -> Result<usize, HostError> {
    let refused = |source| HostError::System {
        operation: "read another process's memory (process_vm_readv)",
        source,
    };
    let (Some(pid), Ok(address)) =
        (i32::try_from(process).ok().and_then(Pid::from_raw), usize::try_from(address))
    else {
        return Err(refused(std::io::ErrorKind::InvalidInput.into()));
    };
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote =
        libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: into.len() };
    // SAFETY: one vector each; `local` is the exclusively borrowed `into`, which lives through the
    // call, and `remote` is never dereferenced here but checked by the kernel.
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
        // No process is its own parent. The request for the signal ends with this test's thread.
        let error = die_with_parent(std::process::id()).unwrap_err();
        assert!(matches!(error, HostError::Orphaned { .. }), "{error}");
    }
}

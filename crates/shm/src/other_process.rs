//! Memory of another process, read through the kernel.
//!
//! Invariant of the unsafe code: the kernel writes only into the slice that the caller passes, and
//! the kernel checks the address in the other process.

use std::io;

use rustix::process::{PTracer, set_ptracer};

/// Lets any process of this user read this one's memory, even where the kernel (Yama) allows that
/// only to its ancestors. A kernel that refuses this has no such restriction; or reading fails, and
/// then the reader says so.
pub(crate) fn allow_reading() {
    let _ = set_ptracer(PTracer::Any);
}

/// Fills `into` with the bytes at `address` in process `process`.
///
/// # Errors
/// There is no such process, no permission (see [`allow_reading`]), or too little memory at
/// `address`.
pub(crate) fn read(process: u32, address: u64, into: &mut [u8]) -> io::Result<()> {
    let (Ok(process), Ok(address)) = (i32::try_from(process), usize::try_from(address)) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote =
        libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: into.len() };
    // SAFETY: there is one vector on each side. `local` is the exclusively borrowed `into`, which
    // outlives the call. `remote` is not dereferenced here; the kernel checks it.
    let read =
        unsafe { libc::process_vm_readv(process, &raw const local, 1, &raw const remote, 1, 0) };
    match usize::try_from(read) {
        Ok(read) if read == into.len() => Ok(()),
        Ok(_) => Err(io::Error::other("fewer bytes than asked")),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::floor::{FloorArea, Lines};

    #[test]
    fn reads_its_own_memory_through_the_kernel() {
        let from: Vec<u8> = (0..=255).collect();
        let mut into = vec![0_u8; 256];
        let address = from.as_ptr().addr() as u64;
        read(std::process::id(), address, &mut into).unwrap();
        assert_eq!(into, from);
    }

    #[test]
    fn a_wrong_address_or_process_is_an_error_not_a_crash() {
        let mut into = [0_u8; 8];
        assert!(read(std::process::id(), 8, &mut into).is_err());
        assert!(read(0, 8, &mut into).is_err());
        assert!(read(u32::MAX, 8, &mut into).is_err());
    }

    #[test]
    fn a_process_that_is_no_ancestor_may_read() {
        const TEST: &str = "other_process::tests::a_process_that_is_no_ancestor_may_read";
        const TOLD: &str = "BANDGAP_TEST_READS";
        const BYTES: [u8; 8] = *b"readable";
        if let Ok(told) = std::env::var(TOLD) {
            // This is the child, and reads its parent.
            let (process, address) = told.split_once(' ').unwrap();
            let mut into = [0; 8];
            read(process.parse().unwrap(), address.parse().unwrap(), &mut into).unwrap();
            assert_eq!(into, BYTES);
            return;
        }
        let yama = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
        if yama.is_ok_and(|scope| !["0", "1"].contains(&scope.trim())) {
            return; // Nobody can be allowed to read.
        }
        let rings = crate::Segment::create(2, 8).unwrap();
        let lines = Lines::over(FloorArea::create().unwrap(), rings);
        let bytes = Box::new(BYTES);
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST])
            .env(TOLD, format!("{} {}", std::process::id(), bytes.as_ptr().addr()))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && said.contains("1 passed"), "{said}");
        drop((lines, bytes));
    }
}

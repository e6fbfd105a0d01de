//! Memory of another process, read through the kernel.
//!
//! Invariant of the unsafe code: the kernel writes only into the slice that the caller passes, and
//! the kernel checks the address in the other process.

use std::io;

use rustix::process::{PTracer, getppid, set_ptracer};

/// Lets the parent of this process, and all processes that the parent started, read this process's
/// memory, even if the kernel (Yama) allows that only to ancestors. So the ranks of a run may read
/// each other, and other processes gain nothing. If the kernel refuses, either it has no such
/// restriction, or reading fails and the reader reports it.
pub(crate) fn allow_reading() {
    // A process that cannot see its parent has no siblings either.
    let _ = getppid().map(|parent| set_ptracer(PTracer::ProcessID(parent)));
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
        Ok(_) => Err(io::Error::other("fewer bytes than requested")),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    mod filter;

    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Output};

    use bandgap_comm::{Bare, Transport};

    use super::*;
    use crate::Shm;
    use crate::floor::Lines;
    use crate::private::tests::met;

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

    /// Runs this test in a process of its own, which is told something, and returns what became of it.
    fn in_child(test: &str, variable: &str, told: String) -> Output {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test])
            .env(variable, told)
            .output()
            .unwrap()
    }

    /// The exit codes of a process in which nothing asked, and of one without filters.
    const MET: i32 = 7;
    const NO_FILTER: i32 = 8;

    /// A filter ends the process at the very call that is wanted, since its effect cannot be read back
    /// and most kernels in use have none.
    #[test]
    fn ranks_let_those_of_their_launcher_read_before_they_meet_and_nobody_else() {
        const TEST: &str = "other_process::tests::\
                            ranks_let_those_of_their_launcher_read_before_they_meet_and_nobody_else";
        const TOLD: &str = "BANDGAP_TEST_ASKS";
        if let Ok(told) = std::env::var(TOLD) {
            // This is the child, and begins as a rank does.
            let (part, tracer) = told.split_once(' ').unwrap();
            let with = [(0, libc::PR_SET_PTRACER as u32), (1, tracer.parse().unwrap())];
            if filter::end_at(libc::SYS_prctl, &with).is_err() {
                std::process::exit(NO_FILTER);
            }
            // It stops where ranks first hear of each other: what lets them read must be done by then.
            let rings = Shm::prepare(2, 0).unwrap();
            met(
                |_| std::process::exit(MET),
                |stop| match part {
                    "transport" => drop(Shm::connect(rings, 0, stop)),
                    _ => drop(Lines::connect(Lines::prepare(&rings).unwrap(), stop)),
                },
            );
            std::process::exit(MET);
        }
        for part in ["transport", "floors"] {
            let ended = |tracer: u32| in_child(TEST, TOLD, format!("{part} {tracer}")).status;
            let launcher = ended(std::process::id());
            if launcher.code() == Some(NO_FILTER) {
                return;
            }
            assert_eq!(launcher.signal(), Some(libc::SIGSYS), "{part}: {launcher}");
            // Any process: PR_SET_PTRACER_ANY is -1.
            let any = ended(u32::MAX);
            assert_eq!(any.code(), Some(MET), "{part}: {any}");
        }
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
        let area = Lines::prepare(&Shm::prepare(2, 0).unwrap()).unwrap();
        let lines = met(|own| own, |at| Lines::connect(area, at)).unwrap();
        let bytes = Box::new(BYTES);
        let told = format!("{} {}", std::process::id(), bytes.as_ptr().addr());
        let child = in_child(TEST, TOLD, told);
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && said.contains("1 passed"), "{said}");
        drop((lines, bytes));
    }
}

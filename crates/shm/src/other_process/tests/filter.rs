//! Filters on system calls (seccomp).

use std::io;

use libc::{c_long, sock_filter, sock_fprog};

/// From now on this process ends with SIGSYS at a call of this number whose first arguments are these: each by its
/// index, and the lower half of its value. A kernel without filters says so.
pub(super) fn end_at(call: c_long, with: &[(u32, u32)]) -> io::Result<()> {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const NEXT_IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    let code =
        |code: u32, jf: usize, k: u32| sock_filter { code: code as u16, jt: 0, jf: jf as u8, k };
    // The number lies at 0 of what a filter sees, and from 16 on the arguments, of 8 bytes each.
    let number = [(0, u32::try_from(call).map_err(io::Error::other)?)];
    let with = with.iter().map(|&(index, value)| (16 + 8 * index, value));
    let compared: Vec<(u32, u32)> = number.into_iter().chain(with).collect();
    let mut program = Vec::new();
    for (done, &(at, value)) in compared.iter().enumerate() {
        program.push(code(LOAD, 0, at));
        // Else past the comparisons that follow, and past what is done instead.
        program.push(code(NEXT_IF_EQUAL, 2 * (compared.len() - done - 1) + 1, value));
    }
    program.push(code(RETURN, 0, libc::SECCOMP_RET_KILL_PROCESS));
    program.push(code(RETURN, 0, libc::SECCOMP_RET_ALLOW));
    let filter = sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the first call takes only numbers. The second reads `program`, of the length told, which
    // outlives it.
    let put = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) == 0
    };
    if put { Ok(()) } else { Err(io::Error::last_os_error()) }
}

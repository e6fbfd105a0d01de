//! What a process does on signals, across calls of libraries that change it.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// The signals that libraries are known to take.
const TAKEN: [c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGBUS, libc::SIGSEGV];

/// What the process does on these signals.
pub(crate) struct Handlers([libc::sigaction; TAKEN.len()]);

impl Handlers {
    /// As it is now.
    pub fn now() -> Self {
        Self(TAKEN.map(|signal| {
            let mut action = MaybeUninit::zeroed();
            // SAFETY: there is room for the answer, and zeroes are a valid value of it.
            unsafe {
                libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
                action.assume_init()
            }
        }))
    }

    /// Does so again.
    pub fn restore(self) {
        for (signal, action) in TAKEN.iter().zip(&self.0) {
            // SAFETY: it was in force before.
            unsafe { libc::sigaction(*signal, action, null_mut()) };
        }
    }
}

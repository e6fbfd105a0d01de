//! What a process does on signals, while libraries that change it are loaded and begin.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// The signals that libraries are known to take.
const TAKEN: [c_int; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGILL,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGTERM,
];

/// What the process does on these signals, and does again when this is dropped.
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
}

impl Drop for Handlers {
    fn drop(&mut self) {
        for (signal, action) in TAKEN.iter().zip(&self.0) {
            // SAFETY: it was in force before.
            unsafe { libc::sigaction(*signal, action, null_mut()) };
        }
    }
}

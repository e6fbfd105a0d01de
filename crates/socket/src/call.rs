//! System calls on sockets whose calls do not wait.

use std::io;

use rustix::io::{Errno, retry_on_intr};

/// The result of a call, which is made again if a signal interrupts it. `None` if it would have to
/// wait.
#[inline(always)]
pub(crate) fn at_once<T>(call: impl FnMut() -> Result<T, Errno>) -> io::Result<Option<T>> {
    match retry_on_intr(call) {
        Ok(done) => Ok(Some(done)),
        Err(Errno::AGAIN) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

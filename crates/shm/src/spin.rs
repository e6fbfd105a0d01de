//! Bounded busy waiting.

use std::time::Instant;

use bandgap_comm::Measuring;

use crate::{Result, ShmError};

/// Number of checks between two calls of [`Measuring::give_up`].
const SPINS: u32 = 4096;

/// Checks until `ready` returns true, without a pause between checks: a pause would take most of a
/// cache line's transfer. Fails if [`Measuring::give_up`], which is called after every 4096 checks,
/// returns true.
#[inline(always)]
pub(crate) fn wait<T>(
    floor: &'static str,
    mut ready: impl FnMut() -> bool,
    with: &Measuring<'_, T>,
) -> Result<()> {
    for _ in 0..SPINS {
        if ready() {
            return Ok(());
        }
    }
    wait_longer(floor, ready, with)
}

#[cold]
#[inline(never)]
fn wait_longer<T>(
    floor: &'static str,
    mut ready: impl FnMut() -> bool,
    with: &Measuring<'_, T>,
) -> Result<()> {
    let since = Instant::now();
    while !(with.give_up)(since.elapsed(), with.patience) {
        for _ in 0..SPINS {
            if ready() {
                return Ok(());
            }
        }
    }
    Err(ShmError::GaveUp(floor))
}

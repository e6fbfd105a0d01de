//! Bounded busy waiting.

use std::time::Instant;

use bandgap_comm::Measuring;

use crate::{Result, ShmError};

/// Looks between two calls of [`Measuring::give_up`].
const SPINS: u32 = 4096;

/// Looks until `ready` returns true, without a pause between two looks: a pause would be most of a
/// cache line's transfer. Fails when [`Measuring::give_up`] returns true; it is called every 4096
/// looks.
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

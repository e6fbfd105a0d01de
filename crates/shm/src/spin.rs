//! What the raw loops have in common: samples, and bounded busy waiting.

use bandgap_comm::{Measuring, Timer};

use crate::ShmError;

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
) -> Result<(), ShmError> {
    loop {
        for _ in 0..SPINS {
            if ready() {
                return Ok(());
            }
        }
        if (with.give_up)(with.patience) {
            return Err(ShmError::GaveUp { floor });
        }
    }
}

/// Calls `sample` for each of the samples, and returns the ticks of each call.
#[inline(always)]
pub(crate) fn timed(
    with: &Measuring<'_, impl Timer>,
    mut sample: impl FnMut() -> Result<(), ShmError>,
) -> Result<Vec<u64>, ShmError> {
    let mut ticks = Vec::with_capacity(with.window.samples as usize);
    for _ in 0..with.window.samples {
        let start = with.timer.stamp();
        sample()?;
        ticks.push(with.timer.stamp().ticks().wrapping_sub(start.ticks()));
    }
    Ok(ticks)
}

//! Bounded busy waiting.

use bandgap_comm::Measuring;

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

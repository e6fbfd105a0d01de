//! What the raw loops have in common: samples, and bounded busy waiting.

use bandgap_comm::Timer;

/// Looks between two calls of `give_up`.
const SPINS: u32 = 4096;

/// Looks until `ready` returns true, without a pause between two looks: a pause would be most of a
/// cache line's transfer. Returns `None` when `give_up` returns true; it is called every 4096
/// looks.
#[inline(always)]
pub(crate) fn until(
    mut ready: impl FnMut() -> bool,
    give_up: &mut impl FnMut() -> bool,
) -> Option<()> {
    loop {
        for _ in 0..SPINS {
            if ready() {
                return Some(());
            }
        }
        if give_up() {
            return None;
        }
    }
}

/// Calls `sample` this many times, and returns the ticks of each call.
#[inline(always)]
pub(crate) fn timed<E>(
    samples: u32,
    timer: &impl Timer,
    mut sample: impl FnMut() -> Result<(), E>,
) -> Result<Vec<u64>, E> {
    let mut ticks = Vec::with_capacity(samples as usize);
    for _ in 0..samples {
        let start = timer.stamp();
        sample()?;
        ticks.push(timer.stamp().ticks().wrapping_sub(start.ticks()));
    }
    Ok(ticks)
}

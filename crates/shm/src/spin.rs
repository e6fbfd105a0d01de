//! Bounded busy waiting for the raw loops.

/// Looks between two questions whether to give up.
const SPINS: u32 = 4096;

/// Looks until `ready`, without a pause between two looks, which would be the greater part of a
/// cache line's transfer. `None` when `give_up` says so; it is asked every 4096 looks.
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

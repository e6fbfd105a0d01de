//! The transfer of a cache line, one way at a time and both ways at once.

use bandgap_comm::{FloorRole, Measuring, Timer};

use super::{FloorArea, Ticks};
use crate::places::Walk;
use crate::probe::ping_pong;
use crate::spin::wait;
use crate::sync::{AtomicU64, Ordering};

/// A sample stays at one place. Its first exchanges bring the place's lines into the caches.
const WALK: Walk = Walk { at_once: 1, warm: 2 };

/// One 8-byte store each way, in two cache lines: `window.samples` samples of `window.rounds` round
/// trips. Each sample uses the next of [`PLACES`](super::PLACES) places, each of which has its own
/// page.
///
/// *Formula*: half round trip = ticks / (2 · rounds).
///
/// # Errors
/// The other side did not answer before `give_up` returned true.
///
/// # Panics
/// `samples · (rounds + 2)` is 2³² − 1 or more.
pub fn cache_line(area: &FloorArea, epoch: u64, with: &Measuring<'_, impl Timer>) -> Ticks {
    ping_pong("cache_line", &area.pairs(), WALK, epoch, with, || ())
}

/// Both sides store 8 bytes, each in its own cache line, and wait until they see the other's: what
/// a barrier of two ranks must do. `window.samples` samples of `window.rounds` exchanges, at the
/// places of [`cache_line`].
///
/// *Formula*: time per exchange = ticks / rounds.
///
/// # Errors
/// The other side did not answer before `give_up` returned true.
///
/// # Panics
/// `samples · (rounds + 2)` is 2³² − 1 or more.
pub fn cache_line_exchange(
    area: &FloorArea,
    epoch: u64,
    with: &Measuring<'_, impl Timer>,
) -> Ticks {
    let exchange = |own: &AtomicU64, other: &AtomicU64, number| {
        // The number itself is the payload: it orders no other memory.
        own.store(number, Ordering::Relaxed);
        // The other side may be one exchange ahead, but no more.
        let seen = || other.load(Ordering::Relaxed).wrapping_sub(number) <= 1;
        wait("cache_line_exchange", seen, with)
    };
    WALK.over(&area.pairs(), epoch, with, |[ping, pong], number| match with.role {
        FloorRole::Initiator => exchange(ping, pong, number),
        FloorRole::Responder => exchange(pong, ping, number),
    })
}

//! The transfer of a cache line, one way at a time and both ways at once.

use bandgap_comm::{Measuring, Role, Timer};

use super::FloorArea;
use crate::ShmError;
use crate::probe::{first_number, ping_pong};
use crate::spin::wait;
use crate::sync::{AtomicU64, Ordering};

/// One 8-byte store each way, in two cache lines: `window.samples` samples of `window.rounds` round
/// trips.
///
/// Formula: half round trip = ticks / (2 · rounds).
///
/// # Errors
/// The other side did not answer before `give_up` returned true.
///
/// # Panics
/// `samples · rounds` is 2³² − 1 or more.
pub fn cache_line(
    area: &FloorArea,
    epoch: u64,
    with: &Measuring<'_, impl Timer>,
) -> Result<Vec<u64>, ShmError> {
    ping_pong("cache_line", area.ping_pong(), epoch, with)
}

/// Both sides store 8 bytes, each in a cache line of its own, and wait until they see the other's:
/// what a barrier of two ranks must do. `window.samples` samples of `window.rounds` exchanges.
///
/// Formula: time per exchange = ticks / rounds.
///
/// # Errors
/// The other side did not answer before `give_up` returned true.
///
/// # Panics
/// `samples · rounds` is 2³² − 1 or more.
pub fn cache_line_exchange(
    area: &FloorArea,
    epoch: u64,
    with: &Measuring<'_, impl Timer>,
) -> Result<Vec<u64>, ShmError> {
    let exchanges = with.window.all_rounds();
    let mut number = first_number(epoch, exchanges);
    let [ping, pong] = area.exchange();
    let mut exchange = |own: &AtomicU64, other: &AtomicU64| {
        number += 1;
        // The number itself is the payload: it orders no other memory.
        own.store(number, Ordering::Relaxed);
        // The other side may be at the next exchange, and no further.
        wait(
            "cache_line_exchange",
            || other.load(Ordering::Relaxed).wrapping_sub(number) <= 1,
            with,
        )
    };
    match with.role {
        Role::Initiator => {
            with.timed(|| (0..with.window.rounds).try_for_each(|_| exchange(ping, pong)))
        }
        Role::Responder => {
            (0..exchanges).try_for_each(|_| exchange(pong, ping))?;
            Ok(Vec::new())
        }
    }
}

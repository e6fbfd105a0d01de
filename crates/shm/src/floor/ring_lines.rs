//! The lines of the transport's own ring.

use bandgap_comm::{Measuring, Timer};

use crate::places::Walk;
use crate::probe::ping_pong;
use crate::{Segment, ShmError};

/// Parts of the ring, each as many slots.
pub const PARTS: usize = 8;

/// One 8-byte store each way, both in the same line, as a request and its reply: over the very slots in which requests of
/// rank 0 to rank 1 travel, in words that no message uses. `window.samples` samples of `window.rounds` round trips. Each
/// sample goes round the next eighth of the slots.
///
/// Formula: half round trip = ticks / (2 · rounds).
///
/// # Errors
/// The other side did not answer before `give_up` returned true.
///
/// # Panics
/// The ring has fewer than 8 slots, or there are 2³² − 1 round trips or more.
pub fn ring_lines(
    rings: &Segment,
    epoch: u64,
    with: &Measuring<'_, impl Timer>,
) -> Result<Vec<u64>, ShmError> {
    let walk = Walk { at_once: rings.slots() / PARTS, warm: 2 };
    ping_pong("ring_lines", &rings.spare_words(0, 1), walk, epoch, with)
}

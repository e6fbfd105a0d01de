//! The lines of the transport's own ring.

use bandgap_comm::{Measuring, Timer};

use super::turn::{Turned, turn, with_blocks};
use crate::places::Walk;
use crate::probe::ping_pong;
use crate::sync::AtomicU64;
use crate::{Segment, ShmError};

/// Parts of the ring, each as many slots.
pub const PARTS: usize = 8;

/// One 8-byte store each way, both in the same line, as a request and its reply: over the very slots in which requests of
/// rank 0 to rank 1 travel, in words that no message uses. `window.samples` samples of `window.rounds` round trips. Each
/// sample goes round the next eighth of the slots. Each side computes for [`Measuring::turn`] before it stores.
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
    let lines = rings.spare_words(0, 1);
    with_blocks(with.turn, RoundTrips { lines: &lines, walk, epoch, with })
}

struct RoundTrips<'a, T> {
    lines: &'a [[&'a AtomicU64; 2]],
    walk: Walk,
    epoch: u64,
    with: &'a Measuring<'a, T>,
}

impl<T: Timer> Turned for RoundTrips<'_, T> {
    type Out = Result<Vec<u64>, ShmError>;

    fn run<const BLOCKS: usize>(self) -> Self::Out {
        let Self { lines, walk, epoch, with } = self;
        ping_pong("ring_lines", lines, walk, epoch, with, turn::<BLOCKS>)
    }
}

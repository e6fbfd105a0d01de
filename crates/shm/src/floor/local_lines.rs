//! The lines of a ring, touched by one processor alone.

use std::hint::black_box;

use bandgap_comm::Timer;

use super::turn::{Turned, turn, with_blocks};
use crate::Segment;
use crate::sync::{AtomicU64, Ordering};

/// What [`ring_lines`](super::ring_lines) does on both sides, one after the other on one processor: over the slots of a
/// ring of `rings`, so many round trips, with a stamp after each side, and with a computation of so many blocks before each
/// store. Returns the ticks of all.
pub fn local_lines<T: Timer>(rings: &Segment, rounds: u32, blocks: u32, timer: &T) -> u64 {
    let lines = rings.spare_words(0, 1);
    with_blocks(blocks, RoundTrips { lines: &lines, rounds, timer })
}

struct RoundTrips<'a, T> {
    lines: &'a [[&'a AtomicU64; 2]],
    rounds: u32,
    timer: &'a T,
}

impl<T: Timer> Turned for RoundTrips<'_, T> {
    type Out = u64;

    fn run<const BLOCKS: usize>(self) -> u64 {
        let Self { lines, rounds, timer } = self;
        let Some(mut back) = lines.first().map(|[_, back]| back) else { return 0 };
        let begun = timer.stamp();
        let mut last = begun;
        for (number, [there, next]) in (1..=u64::from(rounds)).zip(lines.iter().cycle()) {
            // The requester's side: it takes what came back, and sends.
            black_box(back.load(Ordering::Acquire));
            turn::<BLOCKS>();
            there.store(number, Ordering::Release);
            timer.stamp();
            black_box(there.load(Ordering::Acquire));
            turn::<BLOCKS>();
            next.store(number, Ordering::Release);
            last = timer.stamp();
            back = next;
        }
        last.ticks().wrapping_sub(begun.ticks())
    }
}

//! The lines of the transport's own ring, between two processors and on one.

use std::hint::black_box;

use bandgap_comm::{Measuring, Timer};

use super::Ticks;
use super::turn::{Turned, turn, with_blocks};
use crate::Segment;
use crate::places::Walk;
use crate::probe::ping_pong;
use crate::sync::{AtomicU64, Ordering};

/// Number of parts of the ring, with equally many slots.
pub const PARTS: usize = 8;

/// One 8-byte store each way, both in the same line, like a request and its reply: in the slots of
/// requests from rank 0 to rank 1, in words that no message uses. Takes `window.samples` samples of
/// `window.rounds` round trips. Each sample uses the next eighth of the slots. Each side computes
/// for [`Measuring::turn`] before it stores.
///
/// Formula: half round trip = ticks / (2 · rounds).
///
/// # Errors
/// The other side did not answer before `give_up` returned true.
///
/// # Panics
/// The ring has fewer than 8 slots, or there are 2³² − 1 round trips or more.
pub fn ring_lines(rings: &Segment, epoch: u64, with: &Measuring<'_, impl Timer>) -> Ticks {
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
    type Out = Ticks;

    fn run<const BLOCKS: usize>(self) -> Self::Out {
        let Self { lines, walk, epoch, with } = self;
        ping_pong("ring_lines", lines, walk, epoch, with, turn::<BLOCKS>)
    }
}

/// Does the work of both sides of [`ring_lines`] alternately on one processor: `rounds` round trips
/// over the slots of a ring of `rings`, with a stamp after each side and a computation of `blocks`
/// blocks before each store. Returns the total ticks.
pub fn local_lines<T: Timer>(rings: &Segment, rounds: u32, blocks: u32, timer: &T) -> u64 {
    let lines = rings.spare_words(0, 1);
    with_blocks(blocks, OnOne { lines: &lines, rounds, timer })
}

struct OnOne<'a, T> {
    lines: &'a [[&'a AtomicU64; 2]],
    rounds: u32,
    timer: &'a T,
}

impl<T: Timer> Turned for OnOne<'_, T> {
    type Out = u64;

    fn run<const BLOCKS: usize>(self) -> u64 {
        let Self { lines, rounds, timer } = self;
        let Some(mut back) = lines.first().map(|[_, back]| back) else { return 0 };
        let begun = timer.stamp();
        let mut last = begun;
        for (number, [there, next]) in (1..=u64::from(rounds)).zip(lines.iter().cycle()) {
            // The requester's side: takes the reply and sends.
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

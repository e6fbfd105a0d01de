//! The lines of a ring, touched by one processor alone.

use std::hint::black_box;

use bandgap_comm::Timer;

use crate::Segment;
use crate::sync::Ordering;

/// What [`ring_lines`](super::ring_lines) does on both sides, one after the other on one processor: over the slots of a
/// ring of `rings`, so many round trips, with a stamp after each side. Returns the ticks of all.
pub fn local_lines<T: Timer>(rings: &Segment, rounds: u32, timer: &T) -> u64 {
    let lines = rings.spare_words(0, 1);
    let Some(mut back) = lines.first().map(|[_, back]| back) else { return 0 };
    let begun = timer.stamp();
    let mut last = begun;
    for (number, [there, next]) in (1..=u64::from(rounds)).zip(lines.iter().cycle()) {
        // The requester's side: it takes what came back, and sends.
        black_box(back.load(Ordering::Acquire));
        there.store(number, Ordering::Release);
        timer.stamp();
        black_box(there.load(Ordering::Acquire));
        next.store(number, Ordering::Release);
        last = timer.stamp();
        back = next;
    }
    last.ticks().wrapping_sub(begun.ticks())
}

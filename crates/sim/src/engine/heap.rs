//! All events in one order of time: for ranks that share channels, and for those that reach each
//! other at once.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::event::{Event, Queue, What};
use super::world::World;
use crate::SimError;

/// Events by time; of one time first arrivals, then departures, then wakes, each by rank.
#[derive(Debug, Default)]
pub(super) struct Heap {
    events: BinaryHeap<Reverse<Numbered>>,
    pushed: u64,
}

/// An event, and how many were pushed before.
#[derive(Debug, PartialEq, Eq)]
struct Numbered {
    event: Event,
    number: u64,
}

impl Numbered {
    #[inline]
    fn key(&self) -> (u64, u8, u32, u32, u64) {
        let Event { time, to, from, what } = self.event;
        (time, what.place(), to, from, self.number)
    }
}

impl Ord for Numbered {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Numbered {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Queue for Heap {
    #[inline]
    fn push(&mut self, event: Event) {
        self.pushed += 1;
        self.events.push(Reverse(Numbered { event, number: self.pushed }));
    }

    #[inline]
    fn wake_at(&mut self, time: u64, rank: u32) {
        self.push(Event::own(time, rank, What::Wake));
    }

    #[inline]
    fn settled(&self, time: u64) -> bool {
        let next = self.events.peek().map(|Reverse(next)| next.event);
        next.is_none_or(|next| (next.time, next.what.place()) >= (time, What::Wake.place()))
    }
}

impl World<'_, Heap> {
    /// Lets everything happen, one after the other.
    ///
    /// # Errors
    /// As [`World::happen`].
    pub(super) fn in_order(&mut self) -> Result<(), SimError> {
        for rank in 0..self.ranks.len() as u32 {
            self.queue.push(Event::own(0, rank, What::Begin));
        }
        let mut time = 0;
        while let Some(Reverse(Numbered { event, .. })) = self.queue.events.pop() {
            debug_assert!(event.time >= time, "time ran backwards");
            time = event.time;
            self.happen(event)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_then_arrivals_then_departures_then_wakes_by_rank() {
        let mut heap = Heap::default();
        let mut push = |time, to, from, what| heap.push(Event { time, to, from, what });
        push(5, 4, 4, What::Wake);
        push(5, 9, 9, What::Depart);
        push(5, 3, 2, What::Complete);
        push(3, 2, 2, What::Wake);
        push(5, 3, 1, What::Complete);
        push(5, 7, 7, What::Depart);
        push(5, 0, 0, What::Wake);
        assert!(heap.settled(3) && !heap.settled(4));
        let order = std::iter::from_fn(|| heap.events.pop());
        let order: Vec<_> = order.map(|Reverse(next)| (next.event.to, next.event.from)).collect();
        assert_eq!(order, [(2, 2), (3, 1), (3, 2), (7, 7), (9, 9), (0, 0), (4, 4)]);
        assert!(heap.settled(u64::MAX));
    }
}

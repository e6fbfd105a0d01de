//! All events in one order of time, for ranks that share channels or reach each other without
//! delay.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::clock::{Clock, Time};
use super::event::{Event, Queue, What};
use super::world::World;
use crate::error::Result;

/// An event behind the key by which events are ordered.
type Ordered<T> = (T, u8, u32, u32, u64, What);

/// Events by time. At equal times arrivals come first, then departures, then wakes, each by rank.
#[derive(Debug, Default)]
pub(super) struct Heap<T: Time> {
    /// Time, place among equal times, receiver, sender, number of earlier events, and what happens.
    events: BinaryHeap<Reverse<Ordered<T>>>,
    pushed: u64,
}

impl<T: Time> Queue<T> for Heap<T> {
    fn push(&mut self, event: Event<T>) {
        self.pushed += 1;
        let Event { time, to, from, what } = event;
        self.events.push(Reverse((time, what.place(), to, from, self.pushed, what)));
    }

    fn wake_at(&mut self, time: T, rank: u32) {
        self.push(Event::own(time, rank, What::Wake));
    }

    fn settled(&self, time: T) -> bool {
        let next = self.events.peek();
        next.is_none_or(|Reverse(next)| (next.0, next.1) >= (time, What::Wake.place()))
    }
}

impl<C: Clock> World<'_, Heap<C::At>, C> {
    /// Processes all events in order.
    ///
    /// # Errors
    /// As [`World::happen`] and [`World::in_time`].
    pub(super) fn in_order(&mut self) -> Result {
        for rank in 0..self.ranks.len() as u32 {
            self.queue.push(Event::own(C::At::default(), rank, What::Begin));
        }
        let mut last: Option<Event<C::At>> = None;
        while let Some(Reverse((time, _, to, from, _, what))) = self.queue.events.pop() {
            self.in_time(time.picoseconds())?;
            let event = Event { time, to, from, what };
            if let Some(last) = last {
                debug_assert!(event.time >= last.time, "time ran backwards");
                if last.to == event.to
                    || matches!((last.what, event.what), (What::Depart, What::Depart))
                {
                    self.clock.meet(last.time, event.time);
                }
            }
            last = Some(event);
            self.happen(&event)?;
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
        let order: Vec<_> = order.map(|Reverse(next)| (next.2, next.3)).collect();
        assert_eq!(order, [(2, 2), (3, 1), (3, 2), (7, 7), (9, 9), (0, 0), (4, 4)]);
        assert!(heap.settled(u64::MAX));
    }
}

//! What will happen, in order of time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::mail::Address;

/// A message on its way, or in an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parcel {
    pub from: u32,
    /// Index of the pair of ranks in the requester's list of peers; a reply brings it back.
    pub slot: u32,
    pub kind: Kind,
}

/// What a message is. `bytes` says how many it carries beside words; `None` is one of words only,
/// which is not the same as 0 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request {
        replies: bool,
        bytes: Option<u32>,
    },
    /// A request whose reply is to carry so many bytes.
    Get {
        bytes: u32,
    },
    Reply {
        bytes: Option<u32>,
    },
}

impl Kind {
    /// Whether it completes without a reply.
    #[inline]
    pub(super) fn is_silent(self) -> bool {
        matches!(self, Self::Request { replies: false, .. })
    }

    /// The bytes that it carries itself.
    #[inline]
    pub(super) fn bytes(self) -> Option<u32> {
        match self {
            Self::Request { bytes, .. } | Self::Reply { bytes } => bytes,
            Self::Get { .. } => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The parcel reaches the receiver's interface.
    Arrive(Parcel),
    /// The first byte of a message of bytes reaches the receiver's interface.
    Deliver { address: Address, bytes: u32 },
    /// A request without reply completes at its sender, whose list of peers has this index.
    Complete { slot: u32 },
    /// A message is at the network, and asks for a circuit.
    Depart,
    /// A processor goes on.
    Wake,
}

impl What {
    /// The bytes that it carries, if it is a message and not one of words only.
    #[inline]
    pub(super) fn bytes(self) -> Option<u32> {
        match self {
            Self::Arrive(parcel) => parcel.kind.bytes(),
            Self::Deliver { bytes, .. } => Some(bytes),
            Self::Complete { .. } | Self::Depart | Self::Wake => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub time: u64,
    order: u64,
    pub at: u32,
    pub what: What,
}

/// Added to the order of wakes: who looks at some time sees what arrives at that time.
const AFTER_ARRIVALS: u64 = 1 << 63;
/// Added to the order of departures, which come by rank: who asks for a circuit is not decided by
/// how the simulation came there.
const DEPARTURES: u64 = 1 << 62;

/// Events by time; of one time first arrivals in order of insertion, then departures by rank, then
/// wakes in order of insertion.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<Event>>,
    sequence: u64,
}

impl Queue {
    #[inline]
    pub(super) fn push(&mut self, time: u64, at: u32, what: What) {
        self.sequence += 1;
        let order = match what {
            What::Wake => AFTER_ARRIVALS | self.sequence,
            What::Depart => DEPARTURES | u64::from(at),
            _ => self.sequence,
        };
        self.heap.push(Reverse(Event { time, order, at, what }));
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Event> {
        self.heap.pop().map(|Reverse(event)| event)
    }

    /// Whether nothing more can arrive at `time` or before.
    #[inline]
    pub(super) fn settled(&self, time: u64) -> bool {
        self.heap.peek().is_none_or(|Reverse(e)| (e.time, e.order) >= (time, AFTER_ARRIVALS))
    }
}

impl Event {
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.order)
    }
}

impl Ord for Event {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Event {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_then_arrivals_then_departures_by_rank() {
        let mut queue = Queue::default();
        let arrival = |slot| What::Complete { slot };
        queue.push(5, 0, What::Wake);
        queue.push(5, 9, What::Depart);
        queue.push(5, 1, arrival(0));
        queue.push(3, 2, What::Wake);
        queue.push(5, 3, arrival(1));
        queue.push(5, 7, What::Depart);
        queue.push(5, 4, What::Wake);
        assert!(queue.settled(3) && !queue.settled(4));
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|e| e.at).collect();
        assert_eq!(order, [2, 1, 3, 7, 9, 0, 4]);
        assert!(queue.settled(u64::MAX));
    }
}

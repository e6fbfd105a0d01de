//! Events, and the queue of future events.

use super::clock::Time;
use crate::Context;

/// Kind of an Active Message. `bytes` is the number of bytes that it carries besides words; `None`
/// means words only, which is not the same as 0 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MessageKind {
    Request {
        replies: bool,
        bytes: Option<u32>,
    },
    /// A request whose reply will carry this many bytes.
    Get {
        bytes: u32,
    },
    Reply {
        bytes: Option<u32>,
    },
}

impl MessageKind {
    /// Bytes that the message itself carries.
    pub(super) fn bytes(self) -> Option<u32> {
        match self {
            Self::Request { bytes, .. } | Self::Reply { bytes } => bytes,
            Self::Get { .. } => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// An Active Message reaches the receiver's interface.
    Arrive(MessageKind),
    /// The first byte of a message of bytes reaches the receiver's interface.
    Deliver { context: Context, tag: u32, bytes: u32 },
    /// A request without a reply completes at its sender.
    Complete,
    /// A message of this rank reaches the network, and asks for a circuit.
    Depart,
    /// A processor begins its program.
    Begin,
    /// A processor continues, if it still wants to be woken.
    Wake,
}

impl What {
    /// Bytes that it carries, if it is a message with bytes.
    pub(super) fn bytes(self) -> Option<u32> {
        match self {
            Self::Arrive(kind) => kind.bytes(),
            Self::Deliver { bytes, .. } => Some(bytes),
            Self::Complete | Self::Depart | Self::Begin | Self::Wake => None,
        }
    }

    /// Order of events at the same time: arrivals come before anything that looks for them.
    pub(super) fn place(self) -> u8 {
        match self {
            Self::Arrive(_) | Self::Deliver { .. } | Self::Complete => 0,
            Self::Depart => 1,
            Self::Begin | Self::Wake => 2,
        }
    }
}

/// An event at `time` at rank `to`. `from` is the sender of a message; for other events it is the
/// same rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event<T> {
    pub time: T,
    pub to: u32,
    pub from: u32,
    pub what: What,
}

impl<T: Time> Event<T> {
    pub(super) fn own(time: T, rank: u32, what: What) -> Self {
        Self { time, to: rank, from: rank, what }
    }

    /// Order of one rank's events; events with equal keys keep the order in which they were sent.
    pub(super) fn key(&self) -> (T, u8, u32) {
        (self.time, self.what.place(), self.from)
    }
}

/// Future events.
pub(super) trait Queue<T> {
    fn push(&mut self, event: Event<T>);

    /// Asks for `rank`, at which the present event happens, to be woken.
    fn wake_at(&mut self, time: T, rank: u32);

    /// Whether nothing more can arrive until `time` (inclusive) at the rank at which the present
    /// event happens.
    fn settled(&self, time: T) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_stay_small() {
        assert!(size_of::<Event<u64>>() <= 32);
    }
}

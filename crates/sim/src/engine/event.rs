//! What happens to a rank, and who knows what is next.

use super::clock::Time;
use crate::Context;

/// What an Active Message is. `bytes` says how many it carries beside words; `None` is one of words
/// only, which is not the same as 0 bytes.
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
    /// The bytes that it carries itself.
    pub(super) fn bytes(self) -> Option<u32> {
        match self {
            Self::Request { bytes, .. } | Self::Reply { bytes } => bytes,
            Self::Get { .. } => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// An Active Message reaches the receiver's interface.
    Arrive(Kind),
    /// The first byte of a message of bytes reaches the receiver's interface.
    Deliver { context: Context, tag: u32, bytes: u32 },
    /// A request without reply completes at its sender.
    Complete,
    /// A message of this rank is at the network, and asks for a circuit.
    Depart,
    /// A processor begins with its program.
    Begin,
    /// A processor goes on, if it still wants to be woken.
    Wake,
}

impl What {
    /// The bytes that it carries, if it is a message and not one of words only.
    pub(super) fn bytes(self) -> Option<u32> {
        match self {
            Self::Arrive(kind) => kind.bytes(),
            Self::Deliver { bytes, .. } => Some(bytes),
            Self::Complete | Self::Depart | Self::Begin | Self::Wake => None,
        }
    }

    /// Of one time: who looks at some time sees what arrives at that time.
    pub(super) fn place(self) -> u8 {
        match self {
            Self::Arrive(_) | Self::Deliver { .. } | Self::Complete => 0,
            Self::Depart => 1,
            Self::Begin | Self::Wake => 2,
        }
    }
}

/// Something that happens at `time` to the rank `to`. `from` sent it; where nobody did it is the
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

    /// The order of what happens to one rank; events of equal keys come as they were sent.
    pub(super) fn key(&self) -> (T, u8, u32) {
        (self.time, self.what.place(), self.from)
    }
}

/// What is going to happen.
pub(super) trait Queue<T> {
    fn push(&mut self, event: Event<T>);

    /// Asks that `rank`, to which something happens now, be woken.
    fn wake_at(&mut self, time: T, rank: u32);

    /// Whether nothing more can arrive, at `time` or before, at the rank to which something happens
    /// now.
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

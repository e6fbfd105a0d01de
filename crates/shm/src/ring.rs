//! The protocol of one ring: requests from one rank to one other, and their replies.
//!
//! Request number p, from 0, travels in slot p mod N. The receiver runs its handler and writes the
//! reply into the same slot, or a request of its own ([`Lane`]), or lets the ring's counter of
//! handled requests pass p. Either way the request is complete and the slot is the sender's again:
//! completion is the flow control. Handlers run in order, so requests complete in order.
//!
//! A stream of requests without replies costs the receiver no store to a slot: the counter is
//! published after a quarter of the ring, or when calls of [`Receiver::serve`] have found nothing
//! to do for a while, or before a reply is written, or when the receiver is dropped. The sender reads the
//! counter's line only when its oldest request shows no reply.
//!
//! A request without reply and one with, handled after it, could be mistaken for each other where
//! the counter lags. Two orders rule this out: the receiver writes a reply before the counter
//! passes its request, and the sender reads the counter before the slots that it decides on. So a
//! request that the counter passed, and whose slot then shows no reply, has none. The model checker
//! runs this file (`tests/loom.rs`).
//!
//! Each side keeps its own positions to itself and believes of the other's only what it checks:
//! a sequence other than the expected one is "nothing yet", a length is at most four words, the
//! counter is at most the number of requests sent. Whatever a peer writes, the worst is a wrong
//! message or an error.

use core::fmt;

use bandgap_comm::NoHandler;

use crate::slot::{Sequence, Slot, TooManyWords};
use crate::sync::{AtomicU64, Ordering};

mod lane;
mod local;
mod receiver;
mod sender;

#[cfg(not(loom))]
pub(crate) use lane::garbage;
pub use lane::{Delivered, Lane};
pub use local::LocalCells;
pub use receiver::Receiver;
#[cfg(not(loom))]
pub(crate) use sender::Back;
pub use sender::Sender;

/// The memory of a ring: `slots()` lines, a power of two, and the receiver's counter.
pub trait Cells {
    /// Number of slots, a power of two.
    fn slots(&self) -> u64;
    /// The slot of a request and of its reply: number half the sequence, round and round.
    fn slot(&self, sequence: Sequence) -> &Slot;
    /// The counter that the receiver publishes.
    fn handled(&self) -> &Counter;
}

/// How many requests have been handled, on a line of its own, written by the receiver only: the
/// sequence of the first that has not, or 0 at the beginning.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn new(next: Sequence) -> Self {
        Self(AtomicU64::new(next.whole()))
    }

    /// What the receiver made known, for a first look.
    #[cfg(not(loom))]
    #[inline(always)]
    fn glance(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// What the receiver made known.
    #[inline(always)]
    fn read(&self) -> u64 {
        // Acquire: pairs with the release in `publish`. The replies to the requests counted were
        // written before, and the receiver has read those requests.
        self.0.load(Ordering::Acquire)
    }

    /// Makes known that the requests before `next` are handled.
    #[inline(always)]
    fn publish(&self, next: Sequence) {
        // Release: pairs with the acquire in `read`. The replies to the requests counted come
        // before, and so do the reads of these requests, whose slots the sender may now overwrite.
        self.0.store(next.whole(), Ordering::Release);
    }
}

/// What a peer wrote and may not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrupt {
    /// A message of this many words.
    Words(u32),
    /// More requests handled than were sent.
    Handled {
        /// As the peer says.
        handled: u64,
        /// As this side knows.
        sent: u64,
    },
    /// A message for a handler that this side does not have.
    Handler(NoHandler),
}

impl From<NoHandler> for Corrupt {
    fn from(handler: NoHandler) -> Self {
        Self::Handler(handler)
    }
}

impl From<TooManyWords> for Corrupt {
    fn from(TooManyWords(words): TooManyWords) -> Self {
        Self::Words(words)
    }
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => write!(f, "a message of {words} words"),
            Self::Handled { handled, sent } => {
                write!(f, "{handled} requests handled of {sent} sent")
            }
            Self::Handler(handler) => write!(f, "{handler}"),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

//! The protocol of one ring: requests from one rank to another, and their replies.
//!
//! Request number p, counted from 0, travels in slot p mod N. The receiver runs its handler. Then
//! it writes the reply into the same slot, or a request of its own ([`Lane`]), or it lets the
//! ring's counter of handled requests pass p. In each case the request is complete and the slot
//! belongs to the sender again: completion is the flow control. Handlers run in order, so requests
//! complete in order.
//!
//! In a stream of requests without replies, the receiver does not store to the slots. It publishes
//! the counter after each quarter of the ring, when calls of [`Receiver::serve`] have found nothing
//! for a while, before it writes a reply, and when it is dropped. The sender reads the counter's
//! line only when the slot of its oldest request shows no reply.
//!
//! The counter may lag. So a request without a reply could be confused with a later one that has a
//! reply. Two orders rule this out: the receiver writes a reply before the counter passes its
//! request, and the sender reads the counter before the slots on which it decides. So if the
//! counter has passed a request, and its slot then shows no reply, it has none. The model checker
//! runs this file (`tests/loom.rs`).
//!
//! Each side keeps its own positions private, and checks everything that the other side writes: a
//! sequence before the expected one means "nothing yet" and one after it is an error, a length is at
//! most four words, the counter is at most the number of requests sent. Whatever a peer writes, the
//! worst outcome is a wrong message or an error.

pub use crate::slot::Corrupt;
use crate::slot::{Sequence, Slot};
use crate::sync::{AtomicU64, Ordering};

mod lane;
mod lanes;
#[cfg(any(test, loom))]
#[path = "ring/tests/local.rs"]
mod local;
mod receiver;
mod sender;

pub(crate) use lane::garbage;
pub use lane::{Delivered, Lane};
pub use lanes::Lanes;
#[cfg(all(test, not(loom)))]
pub(crate) use lanes::TURNS;
#[cfg(any(test, loom))]
pub use local::LocalCells;
pub use receiver::Receiver;
pub(crate) use sender::Back;
pub use sender::Sender;

/// The memory of a ring: `slots()` lines, a power of two, and the receiver's counter.
pub trait Cells {
    /// Number of slots, a power of two.
    fn slots(&self) -> u64;
    /// The slot of a request and of its reply: number sequence/4, modulo the number of slots.
    fn slot(&self, sequence: Sequence) -> &Slot;
    /// The counter that the receiver publishes.
    fn handled(&self) -> &Counter;
}

/// Number of requests handled, on a line of its own that only the receiver writes. It holds the
/// sequence of the first request that has not been handled, or 0 at the beginning.
#[repr(C, align(64))]
pub struct Counter(AtomicU64);

impl Counter {
    #[cfg(any(test, loom))]
    pub(crate) fn new(next: Sequence) -> Self {
        Self(AtomicU64::new(next.whole()))
    }

    /// The published counter, without ordering: for a first check.
    #[inline(always)]
    fn glance(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The published counter.
    #[inline(always)]
    fn read(&self) -> u64 {
        // Acquire: pairs with the release in `publish`. Before it, the receiver read the requests
        // that it counts, and wrote their replies.
        self.0.load(Ordering::Acquire)
    }

    /// Publishes that the requests before `next` have been handled.
    #[inline(always)]
    fn publish(&self, next: Sequence) {
        // Release: pairs with the acquire in `read`. It comes after the replies to the requests
        // counted, and after the reads of these requests: the sender may now overwrite their slots.
        self.0.store(next.whole(), Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

//! Rank programs over message passing.

pub mod collectives;

use super::{Part, Processor, View};
use crate::{Rank, Result};
use collectives::{Broadcast, Sum};

/// A send or a receive that was begun and not yet waited for.
#[derive(Debug)]
#[must_use = "a message that was begun must be waited for"]
pub struct Pending<P>(pub P);

/// What a rank program may do with messages.
///
/// A message comes from a [`Part`] of the sender's memory and goes into one of the receiver's. A
/// receive names the sender: if it took messages from anybody, time would decide which one.
/// Messages of one sender and tag arrive in the order of their sends. A part must not change while
/// a message from or into it is under way.
pub trait Comm: Processor + Sized {
    /// Whether broadcasts, sums and barriers of all ranks are a library's, by algorithms that only it knows.
    const LIBRARY: bool = false;
    /// What an implementation keeps of a message that is under way.
    type Pending;

    /// Begins to send `from` to `peer`.
    ///
    /// # Errors
    /// There is no such peer, the part is not in memory, a peer is gone, or a deadline passed.
    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<Self::Pending>>;

    /// Posts a receive of the next message of this tag from `peer`. It must have the length of
    /// `into`.
    ///
    /// # Errors
    /// As [`Comm::isend`].
    fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<Pending<Self::Pending>>;

    /// Waits until the part of a send may change, or a receive has its message.
    ///
    /// # Errors
    /// As [`Comm::isend`]; [`CommError::OtherLength`](crate::CommError::OtherLength).
    fn wait(&mut self, pending: Pending<Self::Pending>) -> Result<()>;

    /// This rank's memory. An interpreter has none: there, copies and additions do nothing.
    fn own(&mut self) -> Option<&mut [u8]>;

    /// Copies `from` to `into` in this rank's memory. The two have the same length, and may
    /// overlap.
    ///
    /// # Errors
    /// A part is not in memory, or the lengths differ.
    #[inline(always)]
    fn copy(&mut self, from: Part, into: Part) -> Result<()> {
        self.own().map_or(Ok(()), |memory| from.copy(memory, into))
    }

    /// Copies the elements of `from` to those of `into` in this rank's memory: a column into a
    /// buffer, or a block with rows as columns. The two have as many rows and columns, and their
    /// parts ([`View::part`]) must not overlap.
    ///
    /// # Errors
    /// A view is not in memory, rows or columns differ, or the views overlap.
    #[inline(always)]
    fn copy_elements(&mut self, from: View, into: View) -> Result<()> {
        self.own().map_or(Ok(()), |memory| from.copy(memory, into))
    }

    /// Adds the doubles of `term`, element by element, to those of `into`. The two have the same
    /// length, and must not overlap.
    ///
    /// # Errors
    /// A part is not in memory, the lengths differ, or the parts overlap.
    #[inline(always)]
    fn add(&mut self, into: Part, term: Part) -> Result<()> {
        self.own().map_or(Ok(()), |memory| into.add(memory, term))
    }

    /// Sends `from` to `peer`, and waits until the part may change.
    ///
    /// # Errors
    /// As [`Comm::wait`].
    fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<()> {
        let pending = self.isend(peer, tag, from)?;
        self.wait(pending)
    }

    /// Waits for a message from `peer`.
    ///
    /// # Errors
    /// As [`Comm::wait`].
    fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<()> {
        let pending = self.irecv(peer, tag, into)?;
        self.wait(pending)
    }

    /// Sends `from` to `peer`, and receives a message of the same tag from it into `into`, both at
    /// the same time. The lengths may differ; the parts must not overlap.
    ///
    /// # Errors
    /// As [`Comm::wait`]; [`CommError::Overlap`](crate::CommError::Overlap).
    fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<()> {
        from.apart(into)?;
        let receive = self.irecv(peer, tag, into)?;
        let send = self.isend(peer, tag, from)?;
        self.wait(send)?;
        self.wait(receive)
    }

    /// Gives every rank the bytes that `root` has in `part`: [`Broadcast::Binomial`].
    ///
    /// # Errors
    /// As [`Comm::wait`]; or there is no rank `root`.
    #[inline]
    fn broadcast(&mut self, root: Rank, part: Part) -> Result<()> {
        Broadcast::Binomial.run(self, root, part)
    }

    /// Adds up the doubles in `from` of all ranks, and gives every rank the sum in `into`:
    /// [`Sum::RecursiveDoubling`]. Overwrites `scratch`. The three have the same length, and must
    /// not overlap.
    ///
    /// # Errors
    /// As [`Comm::wait`] and [`Comm::add`].
    #[inline]
    fn sum(&mut self, from: Part, into: Part, scratch: Part) -> Result<()> {
        Sum::RecursiveDoubling.run(self, from, into, scratch)
    }

    /// Waits until every rank has called it: a dissemination barrier, by messages or by what a
    /// transport has for it.
    ///
    /// # Errors
    /// As [`Comm::wait`].
    #[inline]
    fn barrier(&mut self) -> Result<()> {
        collectives::dissemination(self)
    }
}

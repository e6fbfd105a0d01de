//! Rank programs that pass messages.

pub mod collectives;

use super::{Part, Processor, View};
use crate::{Rank, Result};
use collectives::{Broadcast, Collective, Sum};

/// A send or receive that was begun and not yet waited for.
#[derive(Debug)]
#[must_use = "a message that was begun must be waited for"]
pub struct Pending<P>(pub P);

/// What a rank program can do with messages.
///
/// A message comes from a [`Part`] of the sender's memory and goes to a part of the receiver's. A
/// receive names the sender: if it took messages from any rank, timing would decide which one.
/// Messages with the same sender and tag arrive in the order of their sends. A part must not change
/// while a message from or into it is on its way.
pub trait Comm: Processor + Sized {
    /// Whether broadcasts, sums and barriers are those of a library, whose algorithms are unknown.
    const LIBRARY: bool = false;
    /// What an implementation stores for a message on its way.
    type Pending;

    /// Begins to send `from` to `peer`.
    ///
    /// # Errors
    /// There is no such peer, the part is not in memory, a peer is gone, or a deadline passed.
    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<Self::Pending>>;

    /// Posts a receive for the next message with this tag from `peer`, which must be as long as
    /// `into`.
    ///
    /// # Errors
    /// As [`Comm::isend`].
    fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<Pending<Self::Pending>>;

    /// Waits until a send's part may change, or a receive has its message.
    ///
    /// # Errors
    /// As [`Comm::isend`]; [`CommError::OtherLength`](crate::CommError::OtherLength).
    fn wait(&mut self, pending: Pending<Self::Pending>) -> Result<()>;

    /// Waits as [`Comm::wait`] for all of them, and leaves none.
    ///
    /// # Errors
    /// As [`Comm::wait`].
    #[inline(always)]
    fn wait_all(&mut self, pending: &mut Vec<Pending<Self::Pending>>) -> Result<()> {
        pending.drain(..).try_for_each(|pending| self.wait(pending))
    }

    /// This rank's memory. An interpreter has none; its copies and additions do nothing.
    fn own(&mut self) -> Option<&mut [u8]>;

    /// Copies `from` to `into` in this rank's memory. The parts must have the same length, and may
    /// overlap.
    ///
    /// # Errors
    /// A part is not in memory, or the lengths differ.
    #[inline(always)]
    fn copy(&mut self, from: Part, into: Part) -> Result<()> {
        self.own().map_or(Ok(()), |memory| from.copy(memory, into))
    }

    /// Copies the elements of `from` to those of `into` in this rank's memory, e.g. a column to a
    /// buffer, or a block with rows and columns exchanged. The views must have equal numbers of
    /// rows and columns, and their parts ([`View::part`]) must not overlap.
    ///
    /// # Errors
    /// A view is not in memory, rows or columns differ, or the views overlap.
    #[inline(always)]
    fn copy_elements(&mut self, from: View, into: View) -> Result<()> {
        self.own().map_or(Ok(()), |memory| from.copy(memory, into))
    }

    /// Adds the doubles of `term` to those of `into`, element by element. The parts must have the
    /// same length and not overlap.
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

    /// Sends `from` to `peer` and receives a message with the same tag from it into `into`, both at
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

    /// Sends the bytes that `root` has in `part` to every rank, by [`Broadcast::Binomial`].
    ///
    /// # Errors
    /// As [`Comm::wait`]; or there is no rank `root`.
    #[inline]
    fn broadcast(&mut self, root: Rank, part: Part) -> Result<()> {
        Broadcast::Binomial.run(self, root, part)
    }

    /// Sums the doubles in `from` of all ranks, and gives every rank the sum in `into`, by
    /// [`Sum::RecursiveDoubling`]. Overwrites `scratch`. The three parts must have the same length
    /// and not overlap.
    ///
    /// # Errors
    /// As [`Comm::wait`] and [`Comm::add`].
    #[inline]
    fn sum(&mut self, from: Part, into: Part, scratch: Part) -> Result<()> {
        Sum::RecursiveDoubling.run(self, from, into, scratch)
    }

    /// Carries out an operation on the vectors `from` and `into`, which have the same length, in whole
    /// doubles and blocks of one length, and do not overlap. Only a library has it: an algorithm needs
    /// working memory ([`Collective::run`]).
    ///
    /// # Errors
    /// As [`Comm::wait`]; or there is no rank `root`; [`CommError::Unavailable`] if no library has it.
    ///
    /// [`CommError::Unavailable`]: crate::CommError::Unavailable
    fn collective(&mut self, of: Collective, _: Rank, _: Part, _: Part) -> Result<()> {
        let reason = format!("no library has {}", of.names()[0]);
        Err(crate::CommError::Unavailable { reason })
    }

    /// Waits until every rank has called it: a dissemination barrier, with messages or with signals
    /// of the transport.
    ///
    /// # Errors
    /// As [`Comm::wait`].
    #[inline]
    fn barrier(&mut self) -> Result<()> {
        collectives::dissemination(self)
    }
}

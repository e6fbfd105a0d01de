//! Rank programs over message passing.

use super::{Members, Part, Processor};
use crate::{CommError, Rank};

/// Tags from here on belong to the collective operations of [`Comm`].
const COLLECTIVE: u32 = 1 << 31;
const BROADCAST: u32 = COLLECTIVE;
const REDUCE: u32 = COLLECTIVE + 1;
/// The first tag by which ranks tell each other that they have come to a barrier. Later tags are of
/// later rounds of it.
pub const BARRIER: u32 = COLLECTIVE + 2;

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
pub trait Comm: Processor {
    /// What an implementation keeps of a message that is under way.
    type Pending;
    /// A view of some of the ranks. A group of a group is again a group of the whole.
    type Group<'a>: Comm<Pending = Self::Pending>
    where
        Self: 'a;

    /// The view of `members`, of which this rank must be one.
    ///
    /// # Errors
    /// [`CommError::NoSuchGroup`], [`CommError::NotInGroup`].
    fn group(&mut self, members: Members) -> Result<Self::Group<'_>, CommError>;

    /// Begins to send `from` to `peer`.
    ///
    /// # Errors
    /// There is no such peer, the part is not in memory, a peer is gone, or a deadline passed.
    fn isend(
        &mut self,
        peer: Rank,
        tag: u32,
        from: Part,
    ) -> Result<Pending<Self::Pending>, CommError>;

    /// Posts a receive of the next message of this tag from `peer`. It must have the length of
    /// `into`.
    ///
    /// # Errors
    /// As [`Comm::isend`].
    fn irecv(
        &mut self,
        peer: Rank,
        tag: u32,
        into: Part,
    ) -> Result<Pending<Self::Pending>, CommError>;

    /// Waits until the part of a send may change, or a receive has its message.
    ///
    /// # Errors
    /// As [`Comm::isend`]; [`CommError::OtherLength`].
    fn wait(&mut self, pending: Pending<Self::Pending>) -> Result<(), CommError>;

    /// Moves messages on without waiting.
    ///
    /// # Errors
    /// A peer is gone or sent garbage.
    fn progress(&mut self) -> Result<(), CommError>;

    /// Copies `from` to `into` in this rank's memory. The two have the same length, and may
    /// overlap.
    ///
    /// # Errors
    /// A part is not in memory, or the lengths differ.
    fn copy(&mut self, from: Part, into: Part) -> Result<(), CommError>;

    /// Adds the doubles of `term`, element by element, to those of `into`. The two have the same
    /// length, and must not overlap.
    ///
    /// # Errors
    /// A part is not in memory, the lengths differ, or the parts overlap.
    fn add(&mut self, into: Part, term: Part) -> Result<(), CommError>;

    /// Sends `from` to `peer`, and waits until the part may change.
    ///
    /// # Errors
    /// As [`Comm::wait`].
    fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<(), CommError> {
        let pending = self.isend(peer, tag, from)?;
        self.wait(pending)
    }

    /// Waits for a message from `peer`.
    ///
    /// # Errors
    /// As [`Comm::wait`].
    fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<(), CommError> {
        let pending = self.irecv(peer, tag, into)?;
        self.wait(pending)
    }

    /// Sends `from` to `peer`, and receives a message of the same tag from it into `into`, both at
    /// the same time. The lengths may differ; the parts must not overlap.
    ///
    /// # Errors
    /// As [`Comm::wait`]; [`CommError::Overlap`].
    fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<(), CommError> {
        from.apart(into)?;
        let receive = self.irecv(peer, tag, into)?;
        let send = self.isend(peer, tag, from)?;
        self.wait(send)?;
        self.wait(receive)
    }

    /// Gives every rank the bytes that `root` has in `part`, by a binomial tree.
    ///
    /// # Errors
    /// As [`Comm::wait`]; or there is no rank `root`.
    fn broadcast(&mut self, root: Rank, part: Part) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        if root >= size {
            return Err(CommError::NoSuchPeer { peer: root, size });
        }
        let relative = (rank + size - root) % size;
        let mut mask = 1;
        while mask < size && relative & mask == 0 {
            mask <<= 1;
        }
        if relative != 0 {
            self.recv((relative - mask + root) % size, BROADCAST, part)?;
        }
        while mask > 1 {
            mask >>= 1;
            if relative + mask < size {
                self.send((relative + mask + root) % size, BROADCAST, part)?;
            }
        }
        Ok(())
    }

    /// Adds up the doubles in `from` of all ranks, and gives every rank the sum in `into`: by a
    /// binomial tree to rank 0, and a broadcast. Overwrites `scratch`. The three have the same
    /// length; `scratch` must not overlap `into`.
    ///
    /// # Errors
    /// As [`Comm::wait`] and [`Comm::add`].
    fn sum(&mut self, from: Part, into: Part, scratch: Part) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        // Not every rank adds; all refuse the same parts.
        scratch.apart(into)?;
        if scratch.len != into.len || !into.len.is_multiple_of(size_of::<f64>()) {
            return Err(CommError::Lengths { parts: [from, into, scratch].into() });
        }
        self.copy(from, into)?;
        let mut mask = 1;
        while mask < size {
            if rank & mask != 0 {
                self.send(rank - mask, REDUCE, into)?;
                break;
            }
            if rank + mask < size {
                self.recv(rank + mask, REDUCE, scratch)?;
                self.add(into, scratch)?;
            }
            mask <<= 1;
        }
        self.broadcast(0, into)
    }

    /// Waits until every rank has called it. In round k of ⌈log₂ size⌉ a rank tells the one 2ᵏ
    /// after it, and waits for the one 2ᵏ before it (Hensgen, Finkel and Manber, "Two algorithms
    /// for barrier synchronization", 1988).
    ///
    /// # Errors
    /// As [`Comm::wait`].
    fn barrier(&mut self) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        let mut distance = 1;
        let mut round = 0;
        while distance < size {
            let (to, before) = ((rank + distance) % size, (rank + size - distance) % size);
            let nothing = Part::default();
            let receive = self.irecv(before, BARRIER + round, nothing)?;
            self.send(to, BARRIER + round, nothing)?;
            self.wait(receive)?;
            distance *= 2;
            round += 1;
        }
        Ok(())
    }
}

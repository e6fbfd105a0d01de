//! The view that a program has of some of the ranks.

use super::{Comm, Members, Part, Pending, Processor, View, Work};
use crate::{CommError, Rank};

/// Some ranks of a [`Comm`], numbered from 0. Memory and clock stay those of the whole.
#[derive(Debug)]
pub struct Group<'a, C> {
    whole: &'a mut C,
    members: Members,
    index: usize,
}

impl<'a, C: Comm> Group<'a, C> {
    /// The view of `members`, of which this rank must be one.
    ///
    /// # Errors
    /// [`CommError::NoSuchGroup`], [`CommError::NotInGroup`].
    pub fn new(whole: &'a mut C, members: Members) -> Result<Self, CommError> {
        let (rank, size) = (whole.rank(), whole.size());
        let members = within(members, Members::first(size))?;
        let index = members.index(rank);
        let index = index.ok_or(CommError::NotInGroup { rank, members })?;
        Ok(Self { whole, members, index })
    }
}

impl<C> Group<'_, C> {
    /// The rank of a member.
    #[inline(always)]
    fn peer(&self, peer: Rank) -> Result<Rank, CommError> {
        let size = self.members.count;
        self.members.rank(peer).ok_or(CommError::NoSuchPeer { peer, size })
    }
}

/// Members of a group as ranks.
fn within(members: Members, whole: Members) -> Result<Members, CommError> {
    members.within(whole).ok_or(CommError::NoSuchGroup { members, size: whole.count })
}

impl<C: Comm> Processor for Group<'_, C> {
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.index
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.members.count
    }

    #[inline(always)]
    fn mark(&mut self) {
        self.whole.mark();
    }

    #[inline(always)]
    fn compute(&mut self, work: Work) {
        self.whole.compute(work);
    }
}

impl<C: Comm> Comm for Group<'_, C> {
    type Pending = C::Pending;
    type Group<'b>
        = Group<'b, C>
    where
        Self: 'b;

    fn group(&mut self, members: Members) -> Result<Group<'_, C>, CommError> {
        let members = within(members, self.members)?;
        Group::new(self.whole, members)
    }

    #[inline(always)]
    fn isend(
        &mut self,
        peer: Rank,
        tag: u32,
        from: Part,
    ) -> Result<Pending<C::Pending>, CommError> {
        self.whole.isend(self.peer(peer)?, tag, from)
    }

    #[inline(always)]
    fn irecv(
        &mut self,
        peer: Rank,
        tag: u32,
        into: Part,
    ) -> Result<Pending<C::Pending>, CommError> {
        self.whole.irecv(self.peer(peer)?, tag, into)
    }

    #[inline(always)]
    fn wait(&mut self, pending: Pending<C::Pending>) -> Result<(), CommError> {
        self.whole.wait(pending)
    }

    #[inline(always)]
    fn progress(&mut self) -> Result<(), CommError> {
        self.whole.progress()
    }

    #[inline(always)]
    fn copy(&mut self, from: Part, into: Part) -> Result<(), CommError> {
        self.whole.copy(from, into)
    }

    #[inline(always)]
    fn copy_elements(&mut self, from: View, into: View) -> Result<(), CommError> {
        self.whole.copy_elements(from, into)
    }

    #[inline(always)]
    fn add(&mut self, into: Part, term: Part) -> Result<(), CommError> {
        self.whole.add(into, term)
    }

    #[inline(always)]
    fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<(), CommError> {
        self.whole.send(self.peer(peer)?, tag, from)
    }

    #[inline(always)]
    fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<(), CommError> {
        self.whole.recv(self.peer(peer)?, tag, into)
    }

    #[inline(always)]
    fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<(), CommError> {
        self.whole.exchange(self.peer(peer)?, tag, from, into)
    }
}

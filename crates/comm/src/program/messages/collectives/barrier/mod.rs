//! All ranks wait for all.

mod dissemination;
mod tree;

pub(in super::super) use dissemination::dissemination;

use super::algorithm::algorithms;
use crate::{Comm, CommError};

algorithms! {
    /// How ranks wait for each other. No bytes are moved, and the messages have tags from
    /// [`BARRIER`](crate::BARRIER) on.
    Barrier, "barrier",
    /// Each tells the ranks 1, 2, 4, … after it. This is [`Comm::barrier`], where that is no library's: where a transport
    /// has a barrier of its own, that one.
    #[default]
    Dissemination "dissemination"
    /// Up a binomial tree to rank 0, and down again.
    Tree "tree"
}

impl Barrier {
    /// Waits until every rank has called it.
    ///
    /// # Errors
    /// As [`Comm::wait`].
    #[inline]
    pub fn run<C: Comm>(self, comm: &mut C) -> Result<(), CommError> {
        match self {
            Self::Dissemination if C::LIBRARY => dissemination(comm),
            Self::Dissemination => comm.barrier(),
            Self::Tree => tree::tree(comm),
        }
    }

    fn stands_against(self, _ranks: usize, _bytes: usize) -> Option<String> {
        None
    }
}

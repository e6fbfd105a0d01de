//! A link that is busier than it has to be.

use std::collections::BTreeSet;
use std::time::Duration;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use bandgap_comm::{CommError, Frame, Link, Posted, Rank, Source, check_peer};

/// Answers Busy at random, and delivers nothing at random, even if the link below could; at random it keeps an accepted
/// frame until it is polled again. What waits must keep its order, and nothing may be lost.
#[derive(Debug)]
pub struct Faulty<L> {
    link: L,
    random: SplitMix64,
    /// Of 256 calls, how many are refused.
    refused: u8,
    /// A frame that was accepted and not sent yet.
    kept: Option<(Rank, Frame)>,
    /// Peers to whom a payload may be on its way.
    writing: BTreeSet<Rank>,
}

impl<L: Link> Faulty<L> {
    /// Of 256 calls to `link`, about `refused` are refused, chosen by `seed`.
    pub fn new(link: L, seed: u64, refused: u8) -> Self {
        let random = SplitMix64::seed_from_u64(seed);
        Self { link, random, refused, kept: None, writing: BTreeSet::new() }
    }

    fn refuses(&mut self) -> bool {
        (self.random.next_u64() & 0xFF) < u64::from(self.refused)
    }
}

impl<L: Link> Link for Faulty<L> {
    fn rank(&self) -> Rank {
        self.link.rank()
    }

    fn size(&self) -> usize {
        self.link.size()
    }

    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted, CommError> {
        if self.refuses() || self.kept.is_some() {
            return Ok(Posted::Busy);
        }
        if self.refuses() && self.writing.is_empty() {
            check_peer(peer, self.rank(), self.size())?;
            self.kept = Some((peer, *frame));
            return Ok(Posted::Yes);
        }
        self.link.try_send(peer, frame)
    }

    fn exposed(&self) -> &[u8] {
        self.link.exposed()
    }

    fn exposed_mut(&mut self) -> &mut [u8] {
        self.link.exposed_mut()
    }

    fn try_write(
        &mut self,
        peer: Rank,
        frame: &Frame,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted, CommError> {
        if self.refuses() || self.kept.is_some() {
            return Ok(Posted::Busy);
        }
        let posted = self.link.try_write(peer, frame, from, done)?;
        match posted {
            Posted::Yes => self.writing.remove(&peer),
            Posted::Busy => self.writing.insert(peer),
        };
        Ok(posted)
    }

    fn receive<F: FnMut(Rank, Frame)>(&mut self, deliver: F) -> Result<usize, CommError> {
        if let Some((peer, frame)) = self.kept
            && self.link.try_send(peer, &frame)? == Posted::Yes
        {
            self.kept = None;
        }
        if self.refuses() { Ok(0) } else { self.link.receive(deliver) }
    }

    fn tended(&self) -> bool {
        true
    }

    fn unsent(&self) -> usize {
        usize::from(self.kept.is_some()) + self.link.unsent()
    }

    fn block(&mut self, timeout: Duration) -> Result<(), CommError> {
        self.link.block(timeout)
    }
}

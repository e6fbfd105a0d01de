//! A link that is busier than it has to be.

use std::time::Duration;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use bandgap_comm::{CommError, Frame, Frames, Link, Posted, Rank, Source};

/// Answers Busy at random, and delivers nothing at random, even if the link below could. What waits
/// must keep its order, and nothing may be lost.
#[derive(Debug)]
pub struct Faulty<L> {
    link: L,
    random: SplitMix64,
    /// Of 256 calls, how many are refused.
    refused: u8,
}

impl<L: Link> Faulty<L> {
    /// Of 256 calls to `link`, about `refused` are refused, chosen by `seed`.
    pub fn new(link: L, seed: u64, refused: u8) -> Self {
        Self { link, random: SplitMix64::seed_from_u64(seed), refused }
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
        if self.refuses() { Ok(Posted::Busy) } else { self.link.try_send(peer, frame) }
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
        frames: &[&Frame],
        from: Source<'_>,
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted, CommError> {
        if self.refuses() {
            return Ok(Posted::Busy);
        }
        match (self.link.try_write(peer, frames, from, done, None)?, then) {
            (Posted::Yes, Some(then)) => self.try_send(peer, then),
            (posted, _) => Ok(posted),
        }
    }

    fn receive<F: Frames>(&mut self, to: F) -> Result<usize, CommError> {
        if self.refuses() { Ok(0) } else { self.link.receive(to) }
    }

    fn tended(&self) -> bool {
        true
    }

    fn unsent(&self) -> usize {
        self.link.unsent()
    }

    fn block(&mut self, timeout: Duration) -> Result<(), CommError> {
        self.link.block(timeout)
    }
}

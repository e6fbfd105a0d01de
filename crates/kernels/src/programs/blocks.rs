//! Vectors of all ranks that are distributed in blocks.

use bandgap_comm::{Comm, Result, collectives};
use serde::{Deserialize, Serialize};

use crate::{Content, Expects, Seat, VectorKernel, VectorProgram, Vectors};

/// M times the vectors of n doubles of all ranks are summed, and each rank gets its block of the
/// sum. The algorithm is a ring, as in NCCL.
pub type ReduceScatter = VectorKernel<Scattered>;

/// M times every rank sends its block of a vector of n doubles to all others. The algorithm is a
/// ring, as in NCCL.
pub type AllGather = VectorKernel<Gathered>;

/// M times every rank sends each other rank a block of its vector of n doubles. In step d of P − 1
/// it sends to the rank d places after it; in [`super::Comms3`] ranks are paired instead.
pub type AllToAll = VectorKernel<Dealt>;

/// The program of [`ReduceScatter`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scattered;

impl VectorProgram for Scattered {
    const NAME: &'static str = "reduce_scatter";

    fn expects(&self, seat: &Seat, message: u64, vectors: Vectors, expects: &mut Expects) {
        let Seat { rank, size, .. } = *seat;
        let number = |block| message * size as u64 + block as u64;
        for block in 0..size {
            let term = Content::Doubles { source: rank, message: number(block) };
            expects.fill(vectors.blocks(size, block)[0], term);
        }
        let sum = Content::Sum { sources: size, message: number(rank) };
        expects.arrive_by(size as u64 - 1, vectors.blocks(size, rank)[1], sum);
    }

    #[inline(always)]
    fn once<C: Comm>(&self, comm: &mut C, vectors: Vectors) -> Result<()> {
        collectives::reduce_scatter(comm, vectors.from, vectors.into)
    }
}

/// The program of [`AllGather`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gathered;

impl VectorProgram for Gathered {
    const NAME: &'static str = "all_gather";

    fn expects(&self, seat: &Seat, message: u64, vectors: Vectors, expects: &mut Expects) {
        let Seat { rank, size, .. } = *seat;
        for source in 0..size {
            let [own, got] = vectors.blocks(size, source);
            let content = Content::Sent { source, to: source, message };
            if source == rank {
                expects.fill(own, content);
            }
            expects.arrive_by(u64::from(source != rank), got, content);
        }
    }

    #[inline(always)]
    fn once<C: Comm>(&self, comm: &mut C, vectors: Vectors) -> Result<()> {
        let [own, _] = vectors.blocks(comm.size(), comm.rank());
        collectives::all_gather(comm, own, vectors.into)
    }
}

/// The program of [`AllToAll`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dealt;

impl VectorProgram for Dealt {
    const NAME: &'static str = "all_to_all";

    fn expects(&self, seat: &Seat, message: u64, vectors: Vectors, expects: &mut Expects) {
        let Seat { rank, size, .. } = *seat;
        for distance in 0..size {
            let [given, got] = vectors.blocks(size, distance);
            let (to, source) = ((rank + distance) % size, (rank + size - distance) % size);
            expects.fill(given, Content::Sent { source: rank, to, message });
            let content = Content::Sent { source, to: rank, message };
            expects.arrive_by(u64::from(distance > 0), got, content);
        }
    }

    #[inline(always)]
    fn once<C: Comm>(&self, comm: &mut C, vectors: Vectors) -> Result<()> {
        collectives::all_to_all(comm, vectors.from, vectors.into)
    }
}

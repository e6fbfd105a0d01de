//! Vectors of all ranks added up, a block for each.

use bandgap_comm::{Comm, CommError, collectives};
use serde::{Deserialize, Serialize};

use crate::{Content, Expects, Seat, VectorKernel, VectorProgram, Vectors};

/// M times the vectors of n doubles of all ranks are added up, and each rank gets its block of the sum:
/// a ring, as in NCCL.
pub type ReduceScatter = VectorKernel<Scattered>;

/// By a ring.
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
    fn once<C: Comm>(&self, comm: &mut C, vectors: Vectors) -> Result<(), CommError> {
        collectives::reduce_scatter(comm, vectors.from, vectors.into)
    }
}

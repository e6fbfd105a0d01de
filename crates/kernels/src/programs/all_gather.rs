//! Blocks of all ranks given to all.

use bandgap_comm::{Comm, CommError, collectives};
use serde::{Deserialize, Serialize};

use crate::{Content, Expects, Seat, VectorKernel, VectorProgram, Vectors};

/// M times every rank gives its block of a vector of n doubles to all: a ring, as in NCCL.
pub type AllGather = VectorKernel<Gathered>;

/// By a ring.
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
    fn once<C: Comm>(&self, comm: &mut C, vectors: Vectors) -> Result<(), CommError> {
        let [own, _] = vectors.blocks(comm.size(), comm.rank());
        collectives::all_gather(comm, own, vectors.into)
    }
}

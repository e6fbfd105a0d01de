//! A block of each rank for each.

use bandgap_comm::{Comm, CommError, collectives};
use serde::{Deserialize, Serialize};

use crate::{Content, Expects, Seat, VectorKernel, VectorProgram, Vectors};

/// M times every rank gives each a block of its vector of n doubles: in step d of P − 1 the rank d after
/// it. In [`super::Comms3`] ranks are paired instead.
pub type AllToAll = VectorKernel<Dealt>;

/// Step by step.
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
    fn once<C: Comm>(&self, comm: &mut C, vectors: Vectors) -> Result<(), CommError> {
        collectives::all_to_all(comm, vectors.from, vectors.into)
    }
}

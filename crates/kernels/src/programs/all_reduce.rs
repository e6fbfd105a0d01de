//! Vectors added up for all as in training.

use bandgap_comm::{Comm, CommError};
use serde::{Deserialize, Serialize};

use super::global_sum::Reduction;
use crate::{Expects, Seat, VectorKernel, VectorProgram, Vectors};

/// M sums of vectors of n doubles of all ranks, of which every rank gets the result, by the algorithms
/// of NCCL, and of vectors that are as short as they may be: blocks without elements go round too.
pub type AllReduce = VectorKernel<Gradients>;

/// How they are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Gradients(Reduction);

impl VectorProgram for Gradients {
    const NAME: &'static str = "all_reduce";
    const VARIANTS: &'static [&'static str] = &["ring", "two_rings", "double_tree"];
    const MOVES: fn(usize) -> u64 = |ranks| 2 * (ranks as u64).saturating_sub(1);
    const SCRATCH: bool = true;

    fn at(variant: Option<&str>) -> Option<Self> {
        Reduction::at(variant.or(Some(Self::VARIANTS[0]))).map(Self)
    }

    fn expects(&self, seat: &Seat, message: u64, vectors: Vectors, expects: &mut Expects) {
        self.0.expects(seat, message, vectors, expects);
    }

    #[inline(always)]
    fn once<C: Comm>(&self, comm: &mut C, vectors: Vectors) -> Result<(), CommError> {
        self.0.once(comm, vectors)
    }
}

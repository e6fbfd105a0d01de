//! Sums of all ranks' vectors, which all ranks receive.

use bandgap_comm::collectives::{Algorithm, Sum};
use bandgap_comm::{Comm, Result};
use serde::{Deserialize, Serialize};

use super::variant::By;
use crate::{Content, Expects, Refused, Seat, Shape, VectorKernel, VectorProgram, Vectors};

/// M sums of all ranks' vectors of n bytes. Every rank gets the result.
///
/// *Source*: CoMet, section 3.3.4 (global reduction).
pub type GlobalSum = VectorKernel<Reduction<false>>;

/// M sums as in training of neural networks: with the algorithms of NCCL, also for vectors so short
/// that some blocks are empty.
pub type AllReduce = VectorKernel<Reduction<true>>;

/// Algorithms of [`AllReduce`].
const TRAINING: &[&str] =
    &["ring", "two_rings", "double_tree", "recursive_doubling", "rabenseifner"];

/// The program of [`GlobalSum`] and [`AllReduce`], with its algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reduction<const TRAINS: bool>(By<Sum>);

impl<const TRAINS: bool> VectorProgram for Reduction<TRAINS> {
    const NAME: &'static str = if TRAINS { "all_reduce" } else { "global_sum" };
    const VARIANTS: &'static [&'static str] = if TRAINS { TRAINING } else { Sum::NAMES };
    const LIBRARY: bool = true;
    const BUS: fn(usize) -> f64 = |ranks| 2.0 - 2.0 / ranks as f64;
    const SCRATCH: usize = 1;

    fn at(variant: Option<&str>, _shape: Shape) -> Option<Self> {
        By::variant(variant.or(TRAINS.then_some(Self::VARIANTS[0]))).map(Self)
    }

    fn check(&self, ranks: usize, bytes: usize) -> Result<(), Refused> {
        if TRAINS { Ok(()) } else { self.0.check(ranks, bytes) }
    }

    /// A single rank receives nothing: its sum is its own vector.
    fn expects(&self, seat: &Seat, message: u64, vectors: Vectors, expects: &mut Expects) {
        let Seat { rank, size, .. } = *seat;
        let term = Content::Doubles { source: rank, message };
        let sum = Content::Sum { sources: size, message };
        let receives = self.0.own().map_or(1, |own| own.receives(rank, size, vectors.into.len));
        expects.fill(vectors.from, term);
        expects.arrive_by(receives, vectors.into, sum);
    }

    #[inline(always)]
    fn once<C: Comm>(&self, comm: &mut C, _message: u64, vectors: Vectors) -> Result<()> {
        let Vectors { from, into, scratch } = vectors;
        match self.0 {
            By::Library => comm.sum(from, into, scratch),
            By::Own(algorithm) => algorithm.run(comm, from, into, scratch),
        }
    }
}

//! Operations on the vectors of all ranks that have one algorithm, or are a library's.

use bandgap_comm::collectives::{Broadcast, Collective};
use bandgap_comm::{Comm, Rank, Result};
use serde::{Deserialize, Serialize};

use super::LIBRARY;
use crate::{Content, Expects, Refused, Seat, Shape, VectorKernel, VectorProgram, Vectors};

/// M times the vectors of n bytes of all ranks are summed, and each rank gets its block of the
/// sum. The algorithm is a ring, as in NCCL.
pub type ReduceScatter = VectorKernel<Of<{ Collective::ReduceScatter as u8 }>>;

/// M times every rank sends its block of a vector of n bytes to all others. The algorithm is a
/// ring, as in NCCL.
pub type AllGather = VectorKernel<Of<{ Collective::AllGather as u8 }>>;

/// M times every rank sends each other rank a block of its vector of n bytes. In step d of P − 1
/// it sends to the rank d places after it; in [`super::Comms3`] ranks are paired instead.
pub type AllToAll = VectorKernel<Of<{ Collective::AllToAll as u8 }>>;

/// M times the vectors of n bytes of all ranks are summed for the rank that is the farthest from
/// rank 0, and M times for rank 0, in turn. The tree is that of a broadcast, reversed, so that rank 0 waits
/// for what it has set off itself, as in [`super::Broadcast`].
pub type Reduce = VectorKernel<Of<{ Collective::Reduce as u8 }>>;

/// M times every rank sends its block of a vector of n bytes to the last rank, and M times to rank 0, in
/// turn.
pub type Gather = VectorKernel<Of<{ Collective::Gather as u8 }>>;

/// M times rank 0 sends every rank its block of a vector of n bytes, and M times the last rank does, in turn.
pub type Scatter = VectorKernel<Of<{ Collective::Scatter as u8 }>>;

/// The program of one of [`Collective::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Of<const COLLECTIVE: u8> {
    /// Whether a library does it.
    by_library: bool,
    /// Whether rank 0 is the root of all of them, as in OSU.
    #[serde(default)]
    from_one: bool,
}

impl<const COLLECTIVE: u8> Of<COLLECTIVE> {
    const THIS: Collective = Collective::ALL[COLLECTIVE as usize];

    /// The root of an operation. Rank 0 has what the first one needs, and gets what the second one brings.
    #[inline(always)]
    fn root(self, message: u64, size: usize) -> Rank {
        let is_even = message.is_multiple_of(2);
        let is_last = !self.from_one && is_even != (Self::THIS == Collective::Scatter);
        match Self::THIS {
            Collective::Reduce if is_last && !self.by_library => Broadcast::Binomial.last(size),
            of if of.is_rooted() && is_last => size - 1,
            _ => 0,
        }
    }
}

impl<const COLLECTIVE: u8> VectorProgram for Of<COLLECTIVE> {
    const NAME: &'static str = Self::THIS.names()[0];
    const VARIANTS: &'static [&'static str] = &[Self::THIS.names()[1]];
    const LIBRARY: bool = true;
    const BUS: fn(usize) -> f64 = |ranks| match Self::THIS {
        Collective::Reduce => 1.0,
        _ => 1.0 - 1.0 / ranks as f64,
    };
    const PARTS: u32 = if Self::THIS.is_rooted() { 2 } else { 1 };
    const SCRATCH: usize = if matches!(Self::THIS, Collective::Reduce) { 2 } else { 0 };

    fn at(variant: Option<&str>, shape: Shape) -> Option<Self> {
        let is_known = variant.is_none_or(|name| name == LIBRARY || name == Self::VARIANTS[0]);
        let (by_library, from_one) = (variant == Some(LIBRARY), shape == Shape::Osu);
        is_known.then_some(Self { by_library, from_one })
    }

    /// A library has blocks of one length.
    fn check(&self, ranks: usize, bytes: usize) -> Result<(), Refused> {
        let divides = Self::THIS == Collective::Reduce || (bytes / 8).is_multiple_of(ranks.max(1));
        Refused::unless(!self.by_library || divides, || {
            format!(
                "{bytes} bytes are not doubles in {ranks} blocks of one length, as a library needs them"
            )
        })
    }

    fn expects(&self, seat: &Seat, message: u64, vectors: Vectors, expects: &mut Expects) {
        let Seat { rank, size, .. } = *seat;
        let root = self.root(message, size);
        let block = |index| vectors.blocks(size, index);
        let numbered = |block| message * size as u64 + block as u64;
        let receives = Self::THIS.receives(self.by_library, rank, root, size);
        match Self::THIS {
            Collective::ReduceScatter => {
                for index in 0..size {
                    let term = Content::Doubles { source: rank, message: numbered(index) };
                    expects.fill(block(index)[0], term);
                }
                let sum = Content::Sum { sources: size, message: numbered(rank) };
                expects.arrive_by(receives, block(rank)[1], sum);
            }
            Collective::AllToAll => {
                for distance in 0..size {
                    let (to, source) = ((rank + distance) % size, (rank + size - distance) % size);
                    let at = |peer| block(if self.by_library { peer } else { distance });
                    expects.fill(at(to)[0], Content::Sent { source: rank, to, message });
                    let content = Content::Sent { source, to: rank, message };
                    expects.arrive_by(u64::from(distance > 0), at(source)[1], content);
                }
            }
            Collective::Reduce => {
                let terms = Content::Doubles { source: rank, message };
                expects.fill(vectors.from, terms);
                match rank == root {
                    true => {
                        let sum = Content::Sum { sources: size, message };
                        expects.arrive_by(receives, vectors.into, sum);
                    }
                    // What arrives on its way to the root is compared there, in the sum.
                    false => expects.arrive_by(receives, vectors.from, terms),
                }
            }
            Collective::AllGather | Collective::Gather => {
                let own = Content::Sent { source: rank, to: rank, message };
                expects.fill(block(rank)[0], own);
                let gets = Self::THIS == Collective::AllGather || rank == root;
                for source in (0..size).filter(|_| gets) {
                    let content = Content::Sent { source, to: source, message };
                    expects.arrive_by(u64::from(source != rank), block(source)[1], content);
                }
            }
            Collective::Scatter => {
                for to in (0..size).filter(|_| rank == root) {
                    expects.fill(block(to)[0], Content::Sent { source: root, to, message });
                }
                let content = Content::Sent { source: root, to: rank, message };
                expects.arrive_by(receives, block(rank)[1], content);
            }
        }
    }

    #[inline(always)]
    fn once<C: Comm>(&self, comm: &mut C, message: u64, vectors: Vectors) -> Result<()> {
        let Vectors { from, into, scratch } = vectors;
        let root = self.root(message, comm.size());
        match self.by_library {
            true => comm.collective(Self::THIS, root, from, into),
            false => Self::THIS.run(comm, root, (from, into), scratch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Roots of four operations on 5 ranks.
    fn roots<const OF: u8>(shape: Shape) -> [Rank; 4] {
        let of = Of::<OF>::at(None, shape).unwrap();
        [0, 1, 2, 3].map(|message| of.root(message, 5))
    }

    #[test]
    fn roots_take_turns_except_in_osus_shape() {
        let both = |of: fn(Shape) -> [Rank; 4]| [Shape::Batch, Shape::Osu].map(of);
        let reduce = both(roots::<{ Collective::Reduce as u8 }>);
        let gather = both(roots::<{ Collective::Gather as u8 }>);
        let scatter = both(roots::<{ Collective::Scatter as u8 }>);
        assert_eq!([gather[0], scatter[0]], [[4, 0, 4, 0], [0, 4, 0, 4]]);
        assert_ne!(reduce[0][0], reduce[0][1]);
        assert_eq!([reduce[1], gather[1], scatter[1]], [[0; 4]; 3]);
    }
}

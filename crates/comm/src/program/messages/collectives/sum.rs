//! Sum of all ranks' doubles, which every rank gets.

mod double_tree;

use super::algorithm::algorithms;
use super::allgather::doubling;
use super::around::Around;
use super::blocks::{Blocks, too_few};
use super::broadcast::{FromRoot, binomial};
use super::fold::{Fold, folded};
use super::tags::SUM;
use super::{allgather, reduce_scatter};
use crate::{Comm, CommError, DOUBLE, Part, Rank, Result};

algorithms! {
    /// Algorithms for a sum.
    Sum, "sum",
    /// Up a binomial tree to rank 0, then a binomial broadcast.
    Tree "tree"
    /// Ranks exchange partial sums, at twice the distance in each step.
    #[default]
    RecursiveDoubling "recursive_doubling"
    /// Each rank sums a block, by recursive halving; then all gather the blocks.
    Rabenseifner "rabenseifner"
    /// Each rank sums a block, by a ring; then all gather the blocks.
    Ring "ring"
    /// As `ring` for each half of the vector, on two rings in opposite directions.
    TwoRings "two_rings"
    /// Each half goes up and down a binary tree, in chunks; leaves of one tree are inner ranks of
    /// the other.
    DoubleTree "double_tree"
}

impl Sum {
    /// Sums the doubles in `from` over all ranks, and gives every rank the sum in `into`. All ranks
    /// get the same bits, since each element is summed in one order. `from` does not change, and
    /// `scratch` is overwritten. The three parts must have the same length and not overlap.
    ///
    /// # Errors
    /// As [`Comm::wait`] and [`Comm::add`].
    #[inline]
    pub fn run<C: Comm>(self, comm: &mut C, from: Part, into: Part, scratch: Part) -> Result<()> {
        // Not every rank adds, but all must refuse the same parts.
        scratch.apart(into)?;
        if scratch.len != into.len || !into.len.is_multiple_of(DOUBLE) {
            return Err(CommError::Lengths { parts: [from, into, scratch].into() });
        }
        from.apart(into)?;
        // These algorithms begin with the terms in the place of the sum.
        if matches!(self, Self::Tree | Self::RecursiveDoubling | Self::Rabenseifner) {
            comm.copy(from, into)?;
        }
        match self {
            Self::Tree => tree(comm, into, scratch),
            Self::RecursiveDoubling => recursive_doubling(comm, into, scratch),
            Self::Rabenseifner => rabenseifner(comm, into, scratch),
            Self::Ring => rings::<C, 1>(comm, from, into),
            Self::TwoRings => rings::<C, 2>(comm, from, into),
            Self::DoubleTree => double_tree::double_tree(comm, from, into, scratch),
        }
    }

    /// Messages that `rank` of `size` receives in a sum of vectors of `bytes` bytes.
    pub fn receives(self, rank: Rank, size: usize, bytes: usize) -> u64 {
        let among = |for_each_step: u64| {
            let fold = Fold::of(size);
            fold.receives(rank, for_each_step * u64::from(fold.within.ilog2()))
        };
        match self {
            Self::Tree => children(rank, size) + u64::from(rank != 0),
            Self::RecursiveDoubling => among(1),
            Self::Rabenseifner => among(2),
            Self::Ring => 2 * (size as u64 - 1),
            Self::TwoRings => 4 * (size as u64 - 1),
            Self::DoubleTree => double_tree::receives(rank, size, bytes),
        }
    }

    fn stands_against(self, ranks: usize, bytes: usize) -> Option<String> {
        let doubles = bytes / DOUBLE;
        if !bytes.is_multiple_of(DOUBLE) {
            return Some(format!("a sum needs whole doubles, {DOUBLE} bytes each"));
        }
        match self {
            Self::Tree | Self::RecursiveDoubling => None,
            Self::Rabenseifner => too_few(Fold::of(ranks.max(1)).within, doubles, "doubles"),
            Self::Ring => too_few(ranks, doubles, "doubles"),
            Self::TwoRings => too_few(2 * ranks, doubles, "doubles"),
            Self::DoubleTree => too_few(2, doubles, "doubles"),
        }
    }
}

/// Up a binomial tree: a rank whose number ends with i zero bits adds the partial sums of the ranks
/// 1, 2, 4, …, 2ⁱ⁻¹ after it, and sends the result to the rank 2ⁱ before it. Rank 0 gets the sum
/// and broadcasts it.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on reduce.
#[inline]
fn tree<C: Comm>(comm: &mut C, into: Part, scratch: Part) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let mut reach = 1;
    while reach < size {
        if rank & reach != 0 {
            comm.send(rank - reach, SUM, into)?;
            break;
        }
        if rank + reach < size {
            comm.recv(rank + reach, SUM, scratch)?;
            comm.add(into, scratch)?;
        }
        reach *= 2;
    }
    binomial(comm, FromRoot::up(0, comm.size()), into)
}

/// Number of ranks that are below `rank` in a binomial tree of `size` ranks, and next to it.
pub(super) fn children(rank: Rank, size: usize) -> u64 {
    let reaches = (0..usize::BITS).map(|bit| 1 << bit).take_while(|&reach| reach < size);
    let below = reaches.take_while(|reach| rank & reach == 0).filter(|reach| rank + reach < size);
    below.count() as u64
}

/// In step k a rank exchanges its partial sum with the rank whose index differs in bit k. Two ranks
/// need one exchange and one addition. a + b = b + a to the last bit, so all ranks get the same
/// sum.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on allreduce.
#[inline]
fn recursive_doubling<C: Comm>(comm: &mut C, into: Part, scratch: Part) -> Result<()> {
    folded(comm, (into, scratch), |comm, fold, index| {
        let mut distance = 1;
        while distance < fold.within {
            comm.exchange(fold.rank(index ^ distance), SUM, into, scratch)?;
            comm.add(into, scratch)?;
            distance *= 2;
        }
        Ok(())
    })
}

/// A reduce-scatter by recursive halving: in each step, from the highest bit down, a rank sends
/// half of the blocks that it still sums to the rank whose index differs in that bit, and adds the
/// other half from that rank to its own. Then an allgather by recursive doubling.
///
/// *Source*: Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004; Thakur,
/// Rabenseifner, Gropp 2005, on allreduce.
#[inline]
fn rabenseifner<C: Comm>(comm: &mut C, into: Part, scratch: Part) -> Result<()> {
    folded(comm, (into, scratch), |comm, fold, index| {
        let count = fold.within;
        let sums = Blocks::of(into, DOUBLE, count);
        let terms = Blocks::of(scratch, DOUBLE, count);
        let mut half = count / 2;
        while half > 0 {
            // First block that stays with this rank, and first block that goes to the other.
            let mine = index & !(half - 1);
            let theirs = mine ^ half;
            let keep = mine..mine + half;
            let give = sums.all(theirs..theirs + half);
            comm.exchange(fold.rank(index ^ half), SUM, give, terms.all(keep.clone()))?;
            comm.add(sums.all(keep.clone()), terms.all(keep))?;
            half /= 2;
        }
        doubling(comm, SUM, sums, (index, count), |index| fold.rank(index))
    })
}

/// On each of N rings a block for each rank goes around, and each rank adds its own terms to it.
/// When it has passed all ranks, it goes around once more, to be kept. Each ring takes 2(P − 1)
/// steps of n/(N·P) bytes: the fewest bytes that a rank can send, for any number of ranks. Every
/// other ring runs in descending order.
///
/// *Source*: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", JPDC 69(2), 2009.
#[inline]
fn rings<C: Comm, const N: usize>(comm: &mut C, from: Part, into: Part) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let ways = [Around::up, Around::down];
    let blocks = |part, way| Blocks::of(Blocks::of(part, DOUBLE, N).one(way), DOUBLE, size);
    let rings = std::array::from_fn(|way| ways[way % 2](rank, size, blocks(into, way)));
    let terms = std::array::from_fn(|way| blocks(from, way));
    reduce_scatter::ring::<C, N>(comm, &rings, terms)?;
    allgather::ring(comm, SUM, &rings)
}

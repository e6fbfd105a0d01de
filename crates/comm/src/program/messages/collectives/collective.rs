//! Operations on vectors of doubles for which there is one algorithm each.

use super::all_to_all::all_to_all;
use super::allgather::all_gather;
use super::blocks::Blocks;
use super::broadcast::{Count, FromRoot};
use super::reduce_scatter::reduce_scatter;
use super::sum::children;
use super::tags::{BLOCKS, SUM};
use crate::{Comm, DOUBLE, Part, Rank, Result};

/// An operation on vectors of doubles. Block r of a vector is that of rank r.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// Each rank gets its block of the sum of all vectors: [`reduce_scatter`].
    ReduceScatter,
    /// All ranks get the own block of each: [`all_gather`].
    AllGather,
    /// Each rank gets a block of each other: [`all_to_all`].
    AllToAll,
    /// The root gets the sum of all vectors.
    Reduce,
    /// The root gets the own block of each.
    Gather,
    /// Each rank gets its block of the root's vector.
    Scatter,
}

impl Collective {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ReduceScatter,
        Self::AllGather,
        Self::AllToAll,
        Self::Reduce,
        Self::Gather,
        Self::Scatter,
    ];

    /// Its name, and that of the algorithm.
    pub const fn names(self) -> [&'static str; 2] {
        match self {
            Self::ReduceScatter => ["reduce_scatter", "ring"],
            Self::AllGather => ["all_gather", "ring"],
            Self::AllToAll => ["all_to_all", "linear"],
            Self::Reduce => ["reduce", "binomial"],
            Self::Gather => ["gather", "linear"],
            Self::Scatter => ["scatter", "linear"],
        }
    }

    /// Whether there is a root, which gets what all ranks have or has what all ranks get.
    pub const fn is_rooted(self) -> bool {
        matches!(self, Self::Reduce | Self::Gather | Self::Scatter)
    }

    /// Carries it out on the vectors `from` and `into`, of the same length. `into` is not touched where
    /// nothing is received. A reduction to a root uses a `scratch` of twice that length.
    ///
    /// The other ranks are numbered up from a root of 0, and down from another one, so that 0 is then the
    /// last.
    ///
    /// # Errors
    /// As [`Comm::wait`], [`Comm::copy`] and [`Comm::add`].
    #[inline(always)]
    pub fn run<C: Comm>(
        self,
        comm: &mut C,
        root: Rank,
        (from, into): (Part, Part),
        scratch: Part,
    ) -> Result<()> {
        let (rank, size) = (comm.rank(), comm.size());
        let count = if root == 0 { Count::Up } else { Count::Down };
        let tree = FromRoot { root, size, count };
        let blocks = |part| Blocks::of(part, DOUBLE, size);
        match self {
            Self::ReduceScatter => reduce_scatter(comm, from, into),
            Self::AllGather => all_gather(comm, blocks(from).one(rank), into),
            Self::AllToAll => all_to_all(comm, from, into),
            Self::Reduce => reduce(comm, tree, (from, into), Blocks::of(scratch, DOUBLE, 2)),
            Self::Gather => gather(comm, tree, blocks(from).one(rank), blocks(into)),
            Self::Scatter => scatter(comm, tree, blocks(from), blocks(into).one(rank)),
        }
    }

    /// Messages that `rank` receives. Of a library, which does not tell: one from each rank that it gets
    /// something of, or one for a sum.
    pub fn receives(self, by_library: bool, rank: Rank, root: Rank, size: usize) -> u64 {
        let others = size as u64 - 1;
        match self {
            Self::ReduceScatter if by_library => 1,
            Self::Reduce if by_library => u64::from(rank == root),
            Self::Reduce => {
                let count = if root == 0 { Count::Up } else { Count::Down };
                children(FromRoot { root, size, count }.number(rank), size)
            }
            Self::ReduceScatter | Self::AllGather | Self::AllToAll => others,
            Self::Gather => u64::from(rank == root) * others,
            Self::Scatter => u64::from(rank != root),
        }
    }
}

/// As a binomial broadcast, reversed: a rank whose number ends with i zero bits adds the sums of those 1, 2,
/// 4, …, 2ⁱ⁻¹ after it to its own terms, and sends the result to the rank 2ⁱ before it.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on reduce.
#[inline]
fn reduce<C: Comm>(
    comm: &mut C,
    tree: FromRoot,
    (terms, into): (Part, Part),
    scratch: Blocks,
) -> Result<()> {
    let number = tree.number(comm.rank());
    let (own, got) = (if number == 0 { into } else { scratch.one(0) }, scratch.one(1));
    let (mut sum, mut reach) = (terms, 1);
    while reach < tree.size && number & reach == 0 {
        if number + reach < tree.size {
            let (place, term) = if sum == own { (got, got) } else { (own, terms) };
            comm.recv(tree.rank(number + reach), SUM, place)?;
            comm.add(own, term)?;
            sum = own;
        }
        reach *= 2;
    }
    match number {
        0 if sum == own => Ok(()),
        0 => comm.copy(terms, into),
        _ => comm.send(tree.rank(number - reach), SUM, sum),
    }
}

/// The root receives from each rank, that with the greatest number first: a scatter, reversed.
#[inline]
fn gather<C: Comm>(comm: &mut C, tree: FromRoot, own: Part, all: Blocks) -> Result<()> {
    if comm.rank() != tree.root {
        return comm.send(tree.root, BLOCKS, own);
    }
    comm.copy(own, all.one(tree.root))?;
    let mut others = (1..tree.size).rev().map(|number| tree.rank(number));
    others.try_for_each(|rank| comm.recv(rank, BLOCKS, all.one(rank)))
}

/// The root sends to each rank in the order of their numbers.
#[inline]
fn scatter<C: Comm>(comm: &mut C, tree: FromRoot, all: Blocks, own: Part) -> Result<()> {
    if comm.rank() != tree.root {
        return comm.recv(tree.root, BLOCKS, own);
    }
    comm.copy(all.one(tree.root), own)?;
    let mut others = (1..tree.size).map(|number| tree.rank(number));
    others.try_for_each(|rank| comm.send(rank, BLOCKS, all.one(rank)))
}

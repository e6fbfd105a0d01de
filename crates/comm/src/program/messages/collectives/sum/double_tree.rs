//! Sum along two trees, each of which carries half of the vector.

use super::super::blocks::Blocks;
use super::super::broadcast::segments;
use super::super::tags::{SECOND_TREE, SUM};
use crate::ring::{after, before, rounds};
use crate::{Comm, DOUBLE, Part, Pending, Rank, Result};

/// Number of chunks in which each half of `bytes` bytes goes along its tree.
///
/// *Formula*: the number of [`segments`] of n/2 bytes in a chain as long as the way from a leaf to
/// the root, which is ⌈log₂ P⌉ messages.
fn chunks(ranks: usize, bytes: usize) -> usize {
    segments(rounds(ranks) as usize + 1, bytes / 2)
}

/// A rank's place in a binary tree whose leaves are the odd numbers: a number that ends with i zero
/// bits is on level i, and its children are 2ⁱ⁻¹ before and after it. Number 0 is above all.
#[derive(Clone, Copy, Debug)]
struct TreeNode {
    /// At most the level of the root, and below the level of the rank above.
    level: usize,
    above: Option<Rank>,
    below: [Option<Rank>; 2],
}

impl TreeNode {
    #[inline]
    fn of(number: usize, size: usize) -> Self {
        let is_root = number == 0;
        let bit = if is_root { size.next_power_of_two() } else { 1 << number.trailing_zeros() };
        let above = (number ^ bit) | (2 * bit);
        let above = if above < size { above } else { number ^ bit };
        // If there is no such number, the nearest one that exists.
        let halves = std::iter::successors(Some(bit / 2), |half| Some(half / 2));
        let mut behind = halves.take_while(|half| *half > 0).map(|half| number + half);
        let below = [
            behind.find(|behind| *behind < size),
            Some(number.wrapping_sub(bit / 2)).filter(|_| !is_root && bit > 1),
        ];
        let level = bit.trailing_zeros() as usize;
        Self { level, above: Some(above).filter(|_| !is_root), below }
    }

    fn renumbered(self, rank: impl Fn(usize) -> Rank) -> Self {
        let Self { level, above, below } = self;
        Self { level, above: above.map(&rank), below: below.map(|below| below.map(&rank)) }
    }

    /// The rank's places in both trees. For an even number of ranks the second tree is the mirror
    /// image of the first; for an odd number it is the first, shifted by one rank. So, except for
    /// rank 0, a leaf of one tree has ranks below it in the other.
    #[inline]
    fn both(rank: Rank, size: usize) -> [Self; 2] {
        let second = match size % 2 {
            0 => Self::of(size - 1 - rank, size).renumbered(|number| size - 1 - number),
            _ => Self::of(before(rank, 1, size), size).renumbered(|number| after(number, 1, size)),
        };
        [Self::of(rank, size), second]
    }

    /// Number of ranks that send it messages on the way up and down: those below it, and the one
    /// above.
    fn peers(&self) -> u64 {
        self.below.iter().chain([&self.above]).flatten().count() as u64
    }
}

/// Sends that were not waited for: those of the last 32 steps, in each of which a rank sends to two
/// others. No tree has so many levels.
struct Sends<P> {
    last: [Option<Pending<P>>; 64],
    begun: usize,
}

impl<P> Sends<P> {
    #[inline]
    fn begin<C: Comm<Pending = P>>(
        &mut self,
        comm: &mut C,
        to: Rank,
        tag: u32,
        from: Part,
    ) -> Result<()> {
        let send = comm.isend(to, tag, from)?;
        let slot = self.begun % self.last.len();
        self.begun += 1;
        self.last[slot].replace(send).map_or(Ok(()), |before| comm.wait(before))
    }

    #[inline]
    fn end<C: Comm<Pending = P>>(&mut self, comm: &mut C) -> Result<()> {
        self.begun = 0;
        self.last.iter_mut().filter_map(Option::take).try_for_each(|send| comm.wait(send))
    }
}

/// Each half of the vector goes up its tree, where each rank adds what arrives from below to its
/// own, and down again. In each step a rank does its part in both trees: on level i it is i chunks
/// behind the leaves on the way up, and as many ahead of them on the way down. So all ranks send
/// and receive all the time, as many bytes as with a ring, and a chunk takes 2·⌈log₂ P⌉ messages.
///
/// *Why no rank waits for ever*: what is received in a step was sent in an earlier one, and a send
/// is waited for only after the step in which it is received.
///
/// *Source*: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
/// scan", Parallel Computing 35(12), 2009; the trees are those of NCCL 2.4.
#[inline]
pub(super) fn double_tree<C: Comm>(
    comm: &mut C,
    from: Part,
    into: Part,
    scratch: Part,
) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    if size == 1 {
        return comm.copy(from, into);
    }
    let (levels, count) = (rounds(size) as usize, chunks(size, from.len));
    let [first, second] = TreeNode::both(rank, size);
    let halves = |half| {
        [from, into, scratch]
            .map(|part| Blocks::of(Blocks::of(part, DOUBLE, 2).one(half), DOUBLE, count))
    };
    let mut trees = [(first, SUM, halves(0)), (second, SECOND_TREE, halves(1))];
    // The tree on whose messages others wait comes first.
    if first.level > second.level {
        trees.swap(0, 1);
    }
    let due = |step: usize, behind: usize| step.checked_sub(behind).filter(|chunk| *chunk < count);
    let mut sends = Sends { last: [const { None }; 64], begun: 0 };
    for step in 0..count + levels {
        for (place, tag, parts) in trees {
            let Some(chunk) = due(step, place.level) else { continue };
            let [terms, sums, others] = parts.map(|part| part.one(chunk));
            let mut sum = terms;
            // The first message is received in the place of the sum, and the terms are added to it.
            let added = [(sums, terms), (others, others)];
            for (below, (into, term)) in place.below.iter().flatten().zip(added) {
                comm.recv(*below, tag, into)?;
                comm.add(sums, term)?;
                sum = sums;
            }
            place.above.map_or(Ok(()), |above| sends.begin(comm, above, tag, sum))?;
        }
    }
    sends.end(comm)?;
    trees.swap(0, 1);
    for step in 0..count + levels {
        for (place, tag, [_, sums, _]) in trees {
            let Some(chunk) = due(step, levels - place.level) else { continue };
            let sum = sums.one(chunk);
            place.above.map_or(Ok(()), |above| comm.recv(above, tag, sum))?;
            for below in place.below.iter().flatten() {
                sends.begin(comm, *below, tag, sum)?;
            }
        }
    }
    sends.end(comm)
}

/// Each chunk from each rank below and above, in both trees.
pub(super) fn receives(rank: Rank, size: usize, bytes: usize) -> u64 {
    let peers = TreeNode::both(rank, size).map(|place| place.peers());
    if size == 1 { 0 } else { chunks(size, bytes) as u64 * (peers[0] + peers[1]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_trees_as_deep_as_can_be_in_which_no_rank_but_the_first_works_twice() {
        for size in 2..200 {
            let all: Vec<[TreeNode; 2]> =
                (0..size).map(|rank| TreeNode::both(rank, size)).collect();
            let inner = |place: &TreeNode| place.below.iter().any(Option::is_some);
            assert!(
                (1..size).all(|rank| all[rank].iter().filter(|place| inner(place)).count() < 2)
            );
            for tree in [0, 1] {
                let place = |rank: Rank| all[rank][tree];
                for rank in 0..size {
                    for below in place(rank).below.into_iter().flatten() {
                        assert_eq!(place(below).above, Some(rank), "{below} of {size}");
                        assert!(place(below).level < place(rank).level);
                    }
                    let way = std::iter::successors(Some(rank), |rank| place(*rank).above);
                    assert!(way.count() <= rounds(size) as usize + 1, "{rank} of {size}");
                }
                let edges = (0..size).map(|rank| place(rank).peers()).sum::<u64>();
                assert_eq!(edges, 2 * (size as u64 - 1), "{size}");
                assert!((0..size).all(|rank| place(rank).level <= rounds(size) as usize));
            }
        }
    }
}

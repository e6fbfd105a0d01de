//! Builds schedules from the lists of ranks; lists that differ only in their peers are stored once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::program::Along;
use super::step::{COMPUTE, Step};
use super::{Entry, List, Schedule};

/// Combines the lists of ranks, in the order of ranks.
#[derive(Debug)]
pub(crate) struct Builder {
    /// All ranks so far.
    pub(crate) schedule: Schedule,
    size: u32,
    /// Lists, by a hash of what ranks that share a list have in common.
    known: HashMap<u64, u32, BuildHasherDefault<AsIs>>,
    amounts: Vec<u64>,
}

impl Builder {
    pub(crate) fn new(size: u32) -> Self {
        let mut schedule = Schedule::default();
        schedule.ranks.reserve_exact(size as usize);
        Self { schedule, size, known: HashMap::default(), amounts: Vec::new() }
    }

    /// Adds the list of the next rank.
    pub(crate) fn add(&mut self, ops: &mut [Step]) {
        self.amounts.clear();
        for op in ops.iter_mut().filter(|op| op.head == COMPUTE) {
            self.amounts.push(op.value);
            op.value = self.amounts.len() as u64 - 1;
        }
        // Often the list is the one of the previous rank.
        let last = self.schedule.ranks.last().copied();
        let entry = match last.filter(|last| self.is(last.list, last.flipped, ops)) {
            Some(last) => last,
            None => self.find(ops),
        };
        let amounts = self.place_of_amounts(entry.list);
        self.schedule.ranks.push(Entry { amounts, ..entry });
    }

    /// The list of the next rank, which is stored if it is new.
    fn find(&mut self, ops: &[Step]) -> Entry {
        let rank = self.schedule.ranks.len() as u32;
        let back = Along::added(rank, 0, self.size);
        let numbers = ops.iter().fold([0, 1], |[added, flipped], op| {
            [
                op.toward(|peer| back.move_to(peer)).after(added),
                op.toward(|peer| peer ^ rank).after(flipped),
            ]
        });
        let amounts = 0;
        for (flipped, number) in [false, true].into_iter().zip(numbers) {
            if let Some(&list) = self.known.get(&number)
                && self.is(list, flipped, ops)
            {
                return Entry { list, flipped, amounts };
            }
        }
        let (begin, list) = (self.schedule.ops.len(), self.schedule.lists.len() as u32);
        self.schedule.ops.extend_from_slice(ops);
        self.schedule.lists.push(List { rank, begin, end: begin + ops.len() });
        for number in numbers {
            self.known.entry(number).or_insert(list);
        }
        Entry { list, flipped: false, amounts }
    }

    /// Whether `list` describes what the next rank does.
    fn is(&self, list: u32, flipped: bool, ops: &[Step]) -> bool {
        let List { rank: first, begin, end } = self.schedule.lists[list as usize];
        let rank = self.schedule.ranks.len() as u32;
        let along = Along::between(first, rank, self.size, flipped);
        let stored = &self.schedule.ops[begin..end];
        stored.len() == ops.len()
            && stored.iter().zip(ops).all(|(old, op)| old.toward(|p| along.move_to(p)).is(*op))
    }

    /// Where the computations of the next rank are: with those of the list's first rank if they are
    /// equal.
    fn place_of_amounts(&mut self, list: u32) -> u32 {
        // Comparing nothing at no address takes longer than all else here.
        if self.amounts.is_empty() {
            return 0;
        }
        let Schedule { lists, ranks, amounts, .. } = &mut self.schedule;
        if let Some(first) = ranks.get(lists[list as usize].rank as usize)
            && amounts[first.amounts as usize..].starts_with(&self.amounts)
        {
            return first.amounts;
        }
        let at = u32::try_from(amounts.len()).expect("fewer than 2³² computations");
        amounts.extend_from_slice(&self.amounts);
        at
    }
}

/// A hasher for hashes, which need no further mixing.
#[derive(Debug, Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    /// Never called: keys are not bytes.
    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Context, Op};

    /// Operations of some ranks that have some in common: how a peer depends on the rank, and values.
    fn op(rank: u32, size: u32, (how, by, value): (u8, u32, u32)) -> Op {
        let context = Context::Messages;
        let flipped = rank ^ by;
        let peer = match how % 3 {
            0 => (rank + by) % size,
            1 if flipped < size => flipped,
            _ => by % size,
        };
        match how {
            0..3 => Op::Send { context, peer, tag: value, bytes: 7 },
            3..6 => Op::Recv { context: Context::Barrier, peer, tag: 7, bytes: value },
            6..8 => Op::Request { peer, replies: how == 6, bytes: value.checked_sub(1) },
            8 => Op::Get { peer, bytes: value },
            9 => Op::Compute { picoseconds: value.into() },
            10 => Op::Compute { picoseconds: (value * rank).into() },
            11 => Op::Serve { requests: value.into() },
            12 => Op::AwaitReplies,
            _ => Op::Mark,
        }
    }

    proptest! {
        #[test]
        fn every_rank_has_its_own_operations_whatever_others_share(
            lists in proptest::collection::vec(
                proptest::collection::vec((0_u8..14, 0_u32..9, 0_u32..3), 0..4), 1..4),
            which in proptest::collection::vec(any::<prop::sample::Index>(), 1..10)
        ) {
            let size = which.len() as u32;
            let of = |rank: u32| {
                let list = which[rank as usize].get(&lists);
                list.iter().map(move |kind| op(rank, size, *kind)).collect::<Vec<Op>>()
            };
            let mut builder = Builder::new(size);
            for rank in 0..size {
                builder.add(&mut of(rank).into_iter().map(Step::from).collect::<Vec<_>>());
            }
            let schedule = builder.schedule;
            for rank in 0..size {
                prop_assert_eq!(schedule.operations(rank as usize).collect::<Vec<_>>(), of(rank));
            }
        }
    }

    #[test]
    fn ranks_that_compute_differently_share_their_messages() {
        let mut builder = Builder::new(8);
        for rank in 0..8 {
            let list = [(9, 0, rank), (0, 1, 5), (10, 0, 1), (1, 1, 5)];
            let mut steps = list.map(|kind| Step::from(op(rank, 8, kind)));
            builder.add(&mut steps);
        }
        // As far, and different in the same bit: odd ranks and even ones.
        assert_eq!(builder.schedule.stored(), 2 * 4);
    }
}

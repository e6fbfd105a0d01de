//! Stores operations as they come, and folds repetitions.
//!
//! A kernel repeats short patterns thousands of times. As soon as the last `n` operations equal the
//! `n` before them, an [`Op::Repeat`] replaces them, and further operations are only compared with
//! the pattern. Folding is greedy and one level deep. It never changes the meaning of the
//! operations.

use crate::Op;
use crate::schedule::Step;

/// Longest pattern that is searched for. A round over 63 peers with a computation after each
/// request is still folded.
const LONGEST: usize = 128;

/// Number of remembered operations: one for each digest. Few of a short list share one.
const PLACES: usize = 1024;

#[derive(Debug)]
pub(crate) struct Folder {
    ops: Vec<Step>,
    /// Operations before this index belong to closed repetitions.
    floor: usize,
    run: Option<Run>,
    /// Number of operations in all lists so far, and that number at the floor.
    count: u64,
    origin: u64,
    /// The last operation with each digest, and for each operation from the floor on the one before
    /// it with the same digest.
    last: [u64; PLACES],
    before: Vec<u64>,
}

/// An open repetition; its [`Op::Repeat`] is the last operation stored.
#[derive(Debug)]
struct Run {
    body: usize,
    length: usize,
    more: u32,
    /// Operations of the body seen since the last complete repetition.
    matched: usize,
}

impl Default for Folder {
    fn default() -> Self {
        let (ops, before, last) = (Vec::new(), Vec::new(), [0; PLACES]);
        // No operation has number 0.
        Self { ops, floor: 0, run: None, count: 1, origin: 1, last, before }
    }
}

impl Folder {
    #[inline(always)]
    pub(crate) fn push(&mut self, op: Op) {
        let op = op.into();
        if self.run.is_some() && self.goes_on(op) {
            return;
        }
        let before = self.store(op);
        if before >= self.origin {
            self.open(before);
        }
    }

    /// Whether the open repetition continues with `op`; if not, it is closed.
    #[inline(never)]
    fn goes_on(&mut self, op: Step) -> bool {
        let Some(run) = &mut self.run else { return false };
        let goes_on = self.ops[run.body + run.matched] == op && run.more < u32::MAX;
        if !goes_on {
            self.close();
            return false;
        }
        run.matched += 1;
        if run.matched == run.length {
            run.matched = 0;
            run.more += 1;
        }
        true
    }

    /// Stores an operation, and returns the number of an earlier one that may be equal.
    #[inline(always)]
    fn store(&mut self, op: Step) -> u64 {
        let last = &mut self.last[op.digest() % PLACES];
        let before = std::mem::replace(last, self.count);
        self.ops.push(op);
        self.before.push(before);
        self.count += 1;
        before
    }

    /// Whether the list is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Ends the list, and returns it; the caller may change it.
    pub(crate) fn finish(&mut self) -> &mut [Step] {
        self.close();
        &mut self.ops
    }

    /// Begins another list.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.set_floor();
    }

    fn set_floor(&mut self) {
        self.floor = self.ops.len();
        self.origin = self.count;
        self.before.clear();
    }

    /// Begins a repetition if the operations end with a pattern that occurs twice in a row. Its
    /// first half ends with an operation equal to the last one: number `before`, or an earlier one
    /// with the same digest.
    #[inline(never)]
    fn open(&mut self, mut before: u64) {
        let end = self.ops.len();
        let longest = LONGEST.min((end - self.floor) / 2);
        while before >= self.origin {
            let length = (self.count - 1 - before) as usize;
            if length > longest {
                return;
            }
            let (body, again) = (end - 2 * length, end - length);
            if self.ops[body..again] == self.ops[again..] {
                self.ops.truncate(again);
                self.ops.push(repeat(length, 1));
                self.run = Some(Run { body, length, more: 1, matched: 0 });
                return;
            }
            before = self.before[(before - self.origin) as usize];
        }
    }

    fn close(&mut self) {
        let Some(Run { body, length, more, matched }) = self.run.take() else { return };
        if let Some(last) = self.ops.last_mut() {
            *last = repeat(length, more);
        }
        self.set_floor();
        for at in body..body + matched {
            self.store(self.ops[at]);
        }
    }
}

fn repeat(length: usize, more: u32) -> Step {
    Op::Repeat { length: u32::try_from(length).expect("at most LONGEST"), more }.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Schedule;
    use crate::schedule::Builder;

    fn folded(ops: impl IntoIterator<Item = Op>) -> Schedule {
        let mut folder = Folder::default();
        ops.into_iter().for_each(|op| folder.push(op));
        let mut builder = Builder::new(16);
        builder.add(folder.finish());
        (1..16).for_each(|_| builder.add(&mut []));
        builder.schedule
    }

    #[test]
    fn a_long_pattern_takes_the_room_of_one() {
        let sample = (1..=15).flat_map(|peer| {
            [Op::Request { peer, replies: true, bytes: None }, Op::Compute { picoseconds: 16_000 }]
        });
        let ops: Vec<Op> = std::iter::repeat_n(sample, 4096).flatten().collect();
        let schedule = folded(ops.iter().copied());
        // 15 requests, 15 computations and the repetition.
        assert_eq!(schedule.stored(), 31);
        assert!(schedule.operations(0).eq(ops));
    }

    #[test]
    fn operations_stay_small() {
        assert!(size_of::<Step>() <= 16);
    }

    proptest! {
        #[test]
        fn folding_changes_nothing(
            parts in proptest::collection::vec(
                (proptest::collection::vec(0_u64..3, 1..5), 1_usize..6), 0..12)
        ) {
            let ops: Vec<Op> = parts
                .iter()
                .flat_map(|(part, times)| std::iter::repeat_n(part, *times).flatten())
                .map(|&requests| Op::Serve { requests })
                .collect();
            prop_assert!(folded(ops.iter().copied()).operations(0).eq(ops));
        }
    }
}

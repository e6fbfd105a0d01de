//! Stores operations as they come, with repetitions folded.
//!
//! A kernel repeats short patterns thousands of times. Once the last `n` operations equal the `n`
//! before them, an [`Op::Repeat`] takes their place, and what follows is only compared with the
//! pattern. Folding is greedy and one level deep. It never changes what the operations mean.

use crate::Op;

/// Longest pattern that is looked for. A round over 63 peers with a computation after each request
/// still folds.
const LONGEST: usize = 128;

#[derive(Debug, Default)]
pub(crate) struct Folder {
    ops: Vec<Op>,
    /// Operations before this index belong to closed repetitions.
    floor: usize,
    run: Option<Run>,
}

/// An open repetition; its [`Op::Repeat`] is the last operation stored.
#[derive(Debug)]
struct Run {
    body: usize,
    length: usize,
    more: u32,
    /// Operations of the body seen since the last whole repetition.
    matched: usize,
}

impl Folder {
    #[inline]
    pub(crate) fn push(&mut self, op: Op) {
        if let Some(run) = &mut self.run {
            if self.ops[run.body + run.matched] == op && run.more < u32::MAX {
                run.matched += 1;
                if run.matched == run.length {
                    run.matched = 0;
                    run.more += 1;
                }
                return;
            }
            self.close();
        }
        self.ops.push(op);
        self.open();
    }

    pub(crate) fn finish(mut self) -> Box<[Op]> {
        self.close();
        self.ops.into_boxed_slice()
    }

    /// Starts a repetition if the operations end with a pattern that comes twice.
    fn open(&mut self) {
        let end = self.ops.len();
        for length in 1..=LONGEST.min((end - self.floor) / 2) {
            let (body, again) = (end - 2 * length, end - length);
            if self.ops[body..again] == self.ops[again..] {
                self.ops.truncate(again);
                self.ops.push(repeat(length, 1));
                self.run = Some(Run { body, length, more: 1, matched: 0 });
                return;
            }
        }
    }

    fn close(&mut self) {
        let Some(Run { body, length, more, matched }) = self.run.take() else { return };
        self.floor = self.ops.len();
        self.ops[self.floor - 1] = repeat(length, more);
        self.ops.extend_from_within(body..body + matched);
    }
}

fn repeat(length: usize, more: u32) -> Op {
    Op::Repeat { length: u32::try_from(length).expect("at most LONGEST"), more }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Schedule;

    fn folded(ops: impl IntoIterator<Item = Op>) -> Schedule {
        let mut folder = Folder::default();
        ops.into_iter().for_each(|op| folder.push(op));
        Schedule::new(vec![folder.finish()])
    }

    #[test]
    fn a_long_pattern_takes_the_room_of_one() {
        let sample = (1..=15).flat_map(|peer| {
            [Op::Request { peer, replies: true, bytes: None }, Op::Compute { picoseconds: 16_000 }]
        });
        let ops: Vec<Op> = std::iter::repeat_n(sample, 4096).flatten().collect();
        let schedule = folded(ops.iter().copied());
        // 15 requests, 15 computations and the repetition.
        assert_eq!(schedule.folded(0).len(), 31);
        assert!(schedule.operations(0).eq(ops));
    }

    #[test]
    fn operations_stay_small() {
        assert!(size_of::<Op>() <= 16);
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

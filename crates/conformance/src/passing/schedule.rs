//! Random messages between three ranks, checked against a model.

use std::collections::{HashMap, VecDeque};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::ranks::{pattern, run};
use crate::Harness;
use bandgap_comm::Rank;
use bandgap_comm::passing::Tuning;

const SIZE: usize = 3;

/// A message, and how its receiver receives it.
#[derive(Clone, Debug)]
struct Letter {
    from: Rank,
    to: Rank,
    tag: u32,
    len: usize,
    /// Receives are in the order of `place`; those at the beginning may be posted early.
    place: u32,
    early: bool,
}

fn letter(tuning: Tuning) -> impl Strategy<Value = Letter> {
    let len = prop_oneof![
        3 => 0..30_usize,
        2 => 0..=2 * tuning.request + 1,
        1 => 0..4 * tuning.chunk * (tuning.slots + 1),
    ];
    (0..SIZE, 1..SIZE, 0..3_u32, len, any::<u32>(), any::<bool>()).prop_map(
        |(from, offset, tag, len, place, early)| {
            let to = (from + offset) % SIZE;
            Letter { from, to, tag, len, place, early }
        },
    )
}

/// The messages that `to` receives, in the order of its receives. Receives are shuffled; the `n`th
/// receive for a sender and tag takes its `n`th message.
fn expected(letters: &[Letter], to: Rank) -> Vec<(usize, &Letter)> {
    let mine = || letters.iter().enumerate().filter(|(_, letter)| letter.to == to);
    let mut sent: HashMap<(Rank, u32), VecDeque<usize>> = HashMap::new();
    for (index, letter) in mine() {
        sent.entry((letter.from, letter.tag)).or_default().push_back(index);
    }
    let mut receives: Vec<_> = mine().collect();
    receives.sort_by_key(|(index, letter)| (letter.place, *index));
    let deal = |(_, receive): (usize, &Letter)| {
        let index = sent.get_mut(&(receive.from, receive.tag)).and_then(VecDeque::pop_front);
        index.map(|index| (index, &letters[index]))
    };
    receives.into_iter().filter_map(deal).collect()
}

/// Random messages: each receive gets the complete message that the model predicts.
pub fn random_messages(made: &Harness) {
    let schedules = prop::collection::vec(letter(made.tuning), 0..60);
    // If a failure is a hang, each attempt to shrink it takes as long as a hang.
    let max_shrink_time = 30_000;
    let failure_persistence = None;
    let config = Config { cases: 24, failure_persistence, max_shrink_time, ..Config::default() };
    let outcome = TestRunner::new(config).run(&schedules, |letters| {
        run(made, SIZE, |rank| {
            let me = rank.rank();
            let receives = expected(&letters, me);
            let mine: Vec<_> =
                letters.iter().filter(|letter| letter.from == me || letter.to == me).collect();
            rank.reserve(mine.len(), mine.iter().map(|letter| letter.len).sum());
            let mut posted = Vec::new();
            let mut sends = Vec::new();
            // Blocking receives come after all sends, since others wait for this rank too.
            let mut early = receives.iter().take_while(|(_, letter)| letter.early);
            let mut early_ones = 0;
            for (index, letter) in letters.iter().enumerate() {
                if letter.from == me {
                    let bytes = pattern(index as u64, letter.len);
                    sends.push(rank.isend_bytes(letter.to, letter.tag, &bytes)?);
                } else if let Some((index, letter)) = early.next() {
                    let recv = rank.irecv_room(letter.from, letter.tag, letter.len)?;
                    posted.push((*index, letter, recv));
                    early_ones += 1;
                }
            }
            for &(index, letter) in &receives[early_ones..] {
                let got = rank.recv_room(letter.from, letter.tag, letter.len)?;
                let expected = pattern(index as u64, letter.len);
                rank.assert_bytes(got, &expected, "by a receive that waits");
            }
            for (index, letter, (recv, into)) in posted {
                rank.wait(recv)?;
                let expected = pattern(index as u64, letter.len);
                rank.assert_bytes(into, &expected, "by a receive posted early");
            }
            sends.into_iter().try_for_each(|send| rank.wait(send))
        });
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

//! Random schedules against a model of what must arrive.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::Harness;
use super::ranks::{ECHO, SINK, request, run, words};
use bandgap_comm::{MAX_WORDS, Rank, Word};

/// One step of one rank.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Sends to the rank so many further, modulo the others.
    Request { offset: usize, len: usize, replies: bool },
    /// Handles what has arrived.
    Poll,
    /// Waits for all replies.
    Await,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..8_usize, 0..=MAX_WORDS, any::<bool>())
            .prop_map(|(offset, len, replies)| Step::Request { offset, len, replies }),
        2 => Just(Step::Poll),
        1 => Just(Step::Await),
    ]
}

fn peer_of(rank: Rank, offset: usize, size: usize) -> Rank {
    (rank + 1 + offset % (size - 1)) % size
}

fn words_of(rank: Rank, index: usize, len: usize) -> Vec<Word> {
    words((rank as u64) << 32 | index as u64, len)
}

/// What `from` sends to `to` by the schedule, in order; if `replied`, only what has a reply.
fn expected(schedule: &[Vec<Step>], from: Rank, to: Rank, replied: bool) -> Vec<Vec<Word>> {
    let sent = schedule[from].iter().enumerate().filter_map(|(index, step)| match *step {
        Step::Request { offset, len, replies }
            if peer_of(from, offset, schedule.len()) == to && (replies || !replied) =>
        {
            Some(words_of(from, index, len))
        }
        _ => None,
    });
    sent.collect()
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values
}

/// Whatever ranks do, each sees exactly what its peers sent to it, in order, and exactly the
/// replies that it asked for.
pub fn random_schedules<H: Harness>() {
    let schedules = (2..5_usize).prop_flat_map(|size| {
        prop::collection::vec(prop::collection::vec(step(), 0..200), size..=size)
    });
    let config = Config { cases: 8, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&schedules, |schedule| {
        let size = schedule.len();
        let logs = run::<H>(size, |am| {
            let rank = am.rank();
            for (index, step) in schedule[rank].iter().enumerate() {
                match *step {
                    Step::Request { offset, len, replies } => {
                        let handler = if replies { ECHO } else { SINK };
                        let words = words_of(rank, index, len);
                        request(am, peer_of(rank, offset, size), handler, &words)?;
                    }
                    Step::Poll => {
                        am.poll()?;
                    }
                    Step::Await => am.await_replies()?,
                }
            }
            Ok(())
        });
        for (here, log) in logs.iter().enumerate() {
            for there in (0..size).filter(|&there| there != here) {
                let arrived = log.requests_of(there);
                prop_assert_eq!(arrived, expected(&schedule, there, here, false));
                let replies = sorted(log.replies_of(there));
                prop_assert_eq!(replies, sorted(expected(&schedule, here, there, true)));
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

//! Random stores, gets and messages against a model of what must arrive.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::filled::{Filled, byte_at, filled};
use super::ranks::{ECHO, SINK, run_over};
use super::{EXPOSED, Harness};
use bandgap_comm::{HandlerId, Rank, Source, Word};

/// One step of one rank. Its peer is `offset` ranks further, counted round without this rank.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Stores `len` bytes at the peer, in the next free place of this rank's share.
    Store { offset: usize, len: usize, replies: bool },
    /// Gets `len` bytes into the next free place.
    Get { offset: usize, len: usize },
    /// Sends a message.
    Request { offset: usize, replies: bool },
    /// Handles what has arrived.
    Poll,
    /// Waits for all completions.
    Await,
}

/// Lengths around those of words, frames and buffers.
fn len() -> impl Strategy<Value = usize> {
    prop_oneof![
        0..100_usize,
        prop::sample::select(vec![4095, 4096, 4097, 16_384, 40_000, 65_536, 70_001]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..8_usize, len(), any::<bool>())
            .prop_map(|(offset, len, replies)| Step::Store { offset, len, replies }),
        3 => (0..8_usize, len()).prop_map(|(offset, len)| Step::Get { offset, len }),
        4 => (0..8_usize, any::<bool>())
            .prop_map(|(offset, replies)| Step::Request { offset, replies }),
        1 => Just(Step::Poll),
        1 => Just(Step::Await),
    ]
}

/// Most steps of a rank. Whatever their lengths, the bytes fit into its share.
const STEPS: usize = 15;
/// Bytes at the beginning that no transfer changes.
const SOURCE: usize = EXPOSED / 8;
/// The share of each rank in every rank's memory. A rank gets into its own share. There are at most
/// 5 ranks.
const SHARE: usize = (EXPOSED - SOURCE) / 5;
const NOTE: HandlerId = HandlerId(0);

/// A step and what it moves: to or from `peer`, from offset `at` to offset `into`.
#[derive(Clone, Copy, Debug)]
struct Planned {
    step: Step,
    peer: Rank,
    at: usize,
    into: usize,
}

/// Gives every transfer of `rank` a place of its own.
fn plan(rank: Rank, size: usize, steps: &[Step]) -> Vec<Planned> {
    let mut used = vec![0; size];
    let planned = steps.iter().enumerate().map(|(index, &step)| {
        let further = |offset: usize| (rank + 1 + offset % (size - 1)) % size;
        let (peer, len, share) = match step {
            Step::Store { offset, len, .. } => (further(offset), len, further(offset)),
            Step::Get { offset, len } => (further(offset), len, rank),
            Step::Request { offset, .. } => (further(offset), 0, rank),
            Step::Poll | Step::Await => (rank, 0, rank),
        };
        let into = SOURCE + rank * SHARE + used[share];
        used[share] += len;
        Planned { step, peer, at: 37 * index, into }
    });
    planned.collect()
}

/// Whatever ranks store, get and send: in the end the bytes are where they belong, and nothing else
/// has changed. Requests arrive in order, and everything completes once.
pub fn random_transfers<H: Harness>() {
    let schedules = (2..5_usize).prop_flat_map(|size| {
        prop::collection::vec(prop::collection::vec(step(), 0..STEPS), size..=size)
    });
    let config = Config { cases: 8, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&schedules, |schedule| {
        let size = schedule.len();
        let plans: Vec<_> =
            schedule.iter().enumerate().map(|(rank, steps)| plan(rank, size, steps)).collect();
        let sent = |from: Rank, to: Rank, replied: bool| -> Vec<Vec<Word>> {
            let steps = plans[from].iter().enumerate().filter(|(_, planned)| planned.peer == to);
            let words = steps.filter_map(|(index, planned)| match planned.step {
                Step::Store { replies, .. } | Step::Request { replies, .. } => {
                    (replies || !replied).then_some(vec![index as Word])
                }
                Step::Get { .. } => replied.then_some(vec![index as Word]),
                Step::Poll | Step::Await => None,
            });
            words.collect()
        };
        let (plans, sent) = (&plans, &sent);
        let logs = run_over(filled::<H>(size), |am| {
            let rank = am.rank();
            for (index, planned) in plans[rank].iter().enumerate() {
                let &Planned { step, peer, at, into } = planned;
                let word = [index as Word];
                match step {
                    Step::Store { len, replies, .. } => {
                        let from = Source::Exposed { at, len };
                        am.store(peer, into, from, if replies { ECHO } else { SINK }, word)?;
                    }
                    Step::Get { len, .. } => am.get(peer, at, into, len, NOTE, word)?,
                    Step::Request { replies, .. } => {
                        am.request(peer, if replies { ECHO } else { SINK }, word)?;
                    }
                    Step::Poll => drop(am.poll()?),
                    Step::Await => am.await_replies()?,
                }
            }
            am.await_replies()?;
            let before = (0..size).filter(|&from| from != rank);
            let expected = before.clone().map(|from| sent(from, rank, false).len()).sum::<usize>();
            am.serve_until(|log| log.requests.len() == expected)?;
            let mut memory = Filled::new(rank);
            for Planned { step, peer, at, into } in plans[rank].iter().copied() {
                if let Step::Get { len, .. } = step {
                    memory.expect(into, (at..at + len).map(|at| byte_at(peer, at)));
                }
            }
            for from in before {
                for Planned { step, peer, at, into } in plans[from].iter().copied() {
                    if let (Step::Store { len, .. }, true) = (step, peer == rank) {
                        memory.expect(into, (at..at + len).map(|at| byte_at(from, at)));
                    }
                }
            }
            memory.check(am)
        });
        for (here, log) in logs.iter().enumerate() {
            for there in (0..size).filter(|&there| there != here) {
                prop_assert_eq!(log.requests_of(there), sent(there, here, false));
                let mut replies = log.replies_of(there);
                replies.sort_unstable();
                prop_assert_eq!(replies, sent(here, there, true));
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

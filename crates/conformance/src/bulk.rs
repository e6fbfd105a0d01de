//! Transfers between exposed memories: bytes arrive where they should and nowhere else; random
//! stores, gets and messages match a model.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::ranks::{Am, ECHO, Log, SINK, assert_nobody, run_over};
use super::{EXPOSED, Harness, Result};
use bandgap_comm::{
    AnyEndpoint, Bulk, CommError, Endpoint, HandlerId, Message, Rank, Source, Word,
};

/// Initial value of the byte at an offset of a rank's memory. It differs from the byte at that
/// offset in other ranks' memory, and from the bytes a power of two away.
fn byte_at(rank: Rank, at: usize) -> u8 {
    let mixed = (at ^ at >> 7 ^ at >> 14 ^ at >> 21) as u8;
    mixed.wrapping_add((rank as u8).wrapping_mul(101))
}

/// The endpoints of a new run, their memory filled with [`byte_at`] up to [`EXPOSED`].
fn filled(made: &Harness, size: usize) -> Vec<AnyEndpoint> {
    let mut ends = (made.endpoints)(size, EXPOSED);
    for (rank, end) in ends.iter_mut().enumerate() {
        let written = end.write_exposed(0, &Filled::new(rank).0);
        written.expect("harnesses expose as many bytes as the suite needs");
    }
    ends
}

/// Expected contents of a rank's memory.
struct Filled(Vec<u8>);

impl Filled {
    fn new(rank: Rank) -> Self {
        Self((0..EXPOSED).map(|at| byte_at(rank, at)).collect())
    }

    /// Expects these bytes from offset `at` on.
    fn expect(&mut self, at: usize, bytes: impl Iterator<Item = u8>) {
        for (held, byte) in self.0[at..].iter_mut().zip(bytes) {
            *held = byte;
        }
    }

    /// Compares the expected contents with the memory of rank `am`.
    fn check(&self, am: &Am) -> Result {
        let rank = am.rank();
        let mut held = vec![0; EXPOSED];
        am.endpoint().read_exposed(0, &mut held)?;
        let wrong = held.iter().zip(&self.0).position(|(held, expected)| held != expected);
        if let Some(at) = wrong {
            let last = held.iter().zip(&self.0).rposition(|(held, expected)| held != expected);
            panic!("rank {rank}: other bytes between offsets {at} and {last:?}");
        }
        Ok(())
    }
}

/// Lengths of transfers: 0, less than a word, a page, and more than fits into a channel.
const LENGTHS: [usize; 5] = [0, 1, 7, 4096, (1 << 20) + 3];
/// The reply handler that records a get's words.
const NOTE: HandlerId = HandlerId(0);

/// When the request handler of a store runs, the stored bytes have arrived, and no others have
/// changed. Holds for bytes of the sender's private memory and of its exposed memory.
pub fn a_store_is_there_before_its_request(made: &Harness) {
    run_over(filled(made, 2), |am| {
        let mut memory = Filled::new(am.rank());
        for (i, len) in LENGTHS.into_iter().enumerate() {
            let (into, at) = (5 + i, 1000 + i);
            for exposed in [false, true] {
                let nth = 2 * i + usize::from(exposed);
                if am.rank() == 0 {
                    let bytes: Vec<u8> = (0..len).map(|at| byte_at(7, at)).collect();
                    let from =
                        if exposed { Source::Exposed { at, len } } else { Source::Bytes(&bytes) };
                    am.store(1, into, from, ECHO, [nth as u64])?;
                    // The source may change now.
                    drop(bytes);
                    am.await_replies()?;
                    // The next store may come only after this one has been checked.
                    am.serve_until(|log| log.requests.len() > nth)?;
                } else {
                    am.serve_until(|log| log.requests.len() > nth)?;
                    let (rank, at) = if exposed { (0, at) } else { (7, 0) };
                    memory.expect(into, (at..at + len).map(|at| byte_at(rank, at)));
                    memory.check(am)?;
                    am.request(0, SINK, [])?;
                }
            }
        }
        memory.check(am)
    });
}

/// A get fetches the peer's bytes. Its handler runs once, after they have arrived. No other bytes
/// change on either side.
pub fn a_get_brings_the_bytes_of_the_peer(made: &Harness) {
    for size in [2, 4] {
        let logs = run_over(filled(made, size), |am| {
            let peer = (am.rank() + 1) % size;
            let mut memory = Filled::new(am.rank());
            for (i, len) in LENGTHS.into_iter().enumerate() {
                // Gets write to the upper half, since peers read from the lower half.
                let (at, into) = (100 + i, EXPOSED / 2 + 3 * i);
                am.get(peer, at, into, len, NOTE, [at as u64, len as u64])?;
                am.serve_until(|log| log.replies.len() > i)?;
                memory.expect(into, (at..at + len).map(|at| byte_at(peer, at)));
                memory.check(am)?;
            }
            am.await_replies()
        });
        for (rank, log) in logs.iter().enumerate() {
            let expected: Vec<_> = LENGTHS
                .into_iter()
                .enumerate()
                .map(|(i, len)| ((rank + 1) % size, vec![100 + i as u64, len as u64]))
                .collect();
            assert_eq!(log.replies, expected);
            assert!(log.requests.is_empty());
        }
    }
}

/// Every rank stores megabytes to the next rank and gets megabytes from it, all at the same time:
/// far more than channels hold, in a ring in which each rank waits for another.
pub fn rings_of_long_transfers_do_not_lock_up(made: &Harness) {
    const LEN: usize = EXPOSED / 4 - 501;
    const ROUNDS: usize = 3;
    /// Tells the sender that its stored bytes have been checked.
    const SEEN: u64 = u64::MAX;
    let count = |log: &Log, seen: bool| {
        log.requests.iter().filter(|(_, words)| (words[0] == SEEN) == seen).count()
    };
    for size in [2, 3, 4] {
        run_over(filled(made, size), |am| {
            let (next, before) = ((am.rank() + 1) % size, (am.rank() + size - 1) % size);
            let mut memory = Filled::new(am.rank());
            // Peers read from the first quarter and store to the second; gets write to the third.
            let (into, got) = (EXPOSED / 4 + 1, EXPOSED / 2 + 1);
            for round in 0..ROUNDS {
                let at = 64 * round + 1;
                am.get(next, at, got, LEN, NOTE, [])?;
                am.store(next, into, Source::Exposed { at, len: LEN }, SINK, [at as u64])?;
                am.await_replies()?;
                am.serve_until(|log| count(log, false) > round)?;
                memory.expect(into, (at..at + LEN).map(|at| byte_at(before, at)));
                memory.expect(got, (at..at + LEN).map(|at| byte_at(next, at)));
                memory.check(am)?;
                // The next store may come only after this one has been checked.
                am.request(before, ECHO, [SEEN])?;
                am.serve_until(|log| count(log, true) > round)?;
            }
            Ok(())
        });
    }
}

/// A transfer from or to bytes that are not exposed is refused at the call. Nothing is sent, and
/// the endpoint remains usable.
pub fn what_is_not_exposed_is_refused(made: &Harness) {
    let mut ends = filled(made, 2);
    let exposed = ends[0].exposed();
    assert!(exposed >= EXPOSED, "{exposed} bytes are exposed");
    let message = Message::new(NOTE, []);
    let end = &mut ends[0];
    for (at, len) in [(exposed, 1), (exposed - 3, 4), (exposed + 1, 0), (usize::MAX, 2)] {
        let mut bytes = vec![0; len];
        let outcomes = [
            end.read_exposed(at, &mut bytes),
            end.write_exposed(at, &bytes),
            end.try_store(1, at, Source::Bytes(&bytes), &mut 0).map(drop),
            end.try_store(1, at, Source::Exposed { at: 0, len }, &mut 0).map(drop),
            end.try_store(1, 0, Source::Exposed { at, len }, &mut 0).map(drop),
            end.try_get(1, at, 0, len, message).map(drop),
            end.try_get(1, 0, at, len, message).map(drop),
        ];
        for (i, outcome) in outcomes.into_iter().enumerate() {
            match outcome {
                Err(CommError::NotExposed { at: a, len: l, exposed: e }) => {
                    assert_eq!((a, l, e), (at, len, exposed));
                }
                other => panic!("call {i} from {at}, {len} bytes: {other:?}"),
            }
        }
    }
    for nobody in [0, 2, usize::MAX] {
        let store = end.try_store(nobody, 0, Source::Bytes(&[1]), &mut 0).map(drop);
        let get = end.try_get(nobody, 0, 0, 1, message).map(drop);
        [store, get].into_iter().for_each(|outcome| assert_nobody(outcome, nobody, 2));
    }
    assert_eq!((end.outstanding(), end.unsent()), (0, 0));
    let whole = run_over(ends, |am| {
        Filled::new(am.rank()).check(am)?;
        let end = am.endpoint().exposed();
        if am.rank() == 0 { am.store(1, end, Source::Bytes(&[]), ECHO, []) } else { Ok(()) }
    });
    assert_eq!((whole[1].requests.len(), whole[0].replies.len()), (1, 1));
}

/// One step of one rank. Its peer is `offset` ranks further, counted cyclically without this rank.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Stores `len` bytes at the peer, in the next free part of this rank's share.
    Store { offset: usize, len: usize, replies: bool },
    /// Gets `len` bytes into the next free part.
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

/// Maximum number of steps of a rank. With any lengths, the bytes fit into its share.
const STEPS: usize = 15;
/// Bytes at the beginning that no transfer changes.
const SOURCE: usize = EXPOSED / 8;
/// Size of each rank's share of every rank's memory. A rank's gets write to its own share. There
/// are at most 5 ranks.
const SHARE: usize = (EXPOSED - SOURCE) / 5;

/// A step and its transfer: to or from `peer`, from offset `at` to offset `into`.
#[derive(Clone, Copy, Debug)]
struct Planned {
    step: Step,
    peer: Rank,
    at: usize,
    into: usize,
}

/// Assigns every transfer of `rank` a range of its own.
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

/// Random stores, gets and requests: in the end the bytes are where they belong and nothing else
/// has changed. Requests arrive in order, and everything completes once.
pub fn random_transfers(made: &Harness) {
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
        let logs = run_over(filled(made, size), |am| {
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
                prop_assert_eq!(log.replies_of(there), sent(here, there, true));
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

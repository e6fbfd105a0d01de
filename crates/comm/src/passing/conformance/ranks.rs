//! Ranks as threads, and bytes that tell whose they are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Harness;
use crate::passing::{INLINE, Passing, Tuning};
use crate::{Bulk, CommError, NoWatch, Waiting};

/// When a wait counts as a hang: far beyond what any property takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The slots begin here, so that an offset forgotten somewhere is found.
const AT: usize = 4096;

/// A rank under test.
pub(super) type Ranks<H> = Passing<<H as Harness>::E, NoWatch>;

/// The ranks of a new run.
pub(super) fn ranks<H: Harness>(size: usize) -> Vec<Ranks<H>> {
    let exposed = AT + H::TUNING.memory(size);
    let rank = |endpoint: H::E| {
        assert!(endpoint.exposed() >= exposed);
        match Passing::new(endpoint, AT, &H::TUNING, Waiting::Yield, NoWatch(PATIENCE)) {
            Ok(rank) => rank,
            Err(error) => panic!("failed to {error}"),
        }
    };
    H::endpoints(size, exposed).into_iter().map(rank).collect()
}

/// Two ranks, to take turns in one thread.
pub(super) fn pair<H: Harness>() -> [Ranks<H>; 2] {
    match <[_; 2]>::try_from(ranks::<H>(2)) {
        Ok(pair) => pair,
        Err(_) => panic!("a run of two ranks has two endpoints"),
    }
}

/// Runs `program` on each rank of a new run, every rank a thread that makes progress until all have
/// finished.
pub(super) fn run<H: Harness>(
    size: usize,
    program: impl Fn(&mut Ranks<H>) -> Result<(), CommError> + Sync,
) {
    let finished = &AtomicUsize::new(0);
    let program = &program;
    thread::scope(|scope| {
        let start = |mut rank: Ranks<H>| {
            scope.spawn(move || {
                let mut whole = || {
                    program(&mut rank)?;
                    rank.settle()?;
                    finished.fetch_add(1, Ordering::SeqCst);
                    let since = Instant::now();
                    while finished.load(Ordering::SeqCst) < size {
                        rank.poll()?;
                        assert!(since.elapsed() < PATIENCE, "others have not finished");
                        thread::yield_now();
                    }
                    rank.settle()
                };
                if let Err(error) = whole() {
                    panic!("rank {} of {size} failed to {error}", rank.rank());
                }
                rank.assert_empty();
                rank
            })
        };
        let threads: Vec<_> = ranks::<H>(size).into_iter().map(start).collect();
        // The ends are dropped when all have stopped: none sees another depart.
        let ends: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        assert!(ends.iter().all(Result::is_ok), "a rank panicked");
    });
}

/// Lets both ranks move on until `done`, which may also look for itself.
///
/// # Panics
/// That takes as long as a hang.
pub(super) fn turns<H: Harness>(
    pair: &mut [Ranks<H>; 2],
    what: &str,
    mut done: impl FnMut(&mut [Ranks<H>; 2]) -> bool,
) {
    let start = Instant::now();
    while !done(pair) {
        for rank in pair.iter_mut() {
            if let Err(error) = rank.poll() {
                panic!("rank {} failed to {error}", rank.rank());
            }
        }
        assert!(start.elapsed() < PATIENCE, "waited for {what}");
        thread::yield_now();
    }
}

/// Lets both ranks send what they owe; nothing else is left then.
pub(super) fn finish<H: Harness>(mut pair: [Ranks<H>; 2]) {
    turns::<H>(&mut pair, "room", |pair| pair.iter().all(Passing::has_settled));
    pair.iter().for_each(Passing::assert_empty);
}

/// Bytes of which no two neighbours are related, different for each seed.
pub(super) fn pattern(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ len as u64;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        bytes.extend_from_slice(&(state >> 13 ^ state >> 41 ^ state << 17).to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Compares without printing megabytes.
pub(super) fn assert_bytes(got: &[u8], expected: &[u8], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    if let Some(at) = got.iter().zip(expected).position(|(got, expected)| got != expected) {
        panic!("{what}: byte {at} of {} is {}, not {}", got.len(), got[at], expected[at]);
    }
}

/// A length of each protocol: in words, in a slot, announced and in several pieces.
pub(super) fn one_of_each(tuning: &Tuning) -> [usize; 3] {
    [11, tuning.eager.min(tuning.chunk), 3 * tuning.chunk.max(tuning.eager) + 5]
}

/// Lengths on both sides of every limit.
pub(super) fn around_limits(tuning: &Tuning) -> Vec<usize> {
    let Tuning { eager, chunk, slots } = *tuning;
    let mut lengths = vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17];
    for limit in [INLINE, eager, chunk, 2 * chunk, slots * chunk, (slots + 1) * chunk] {
        lengths.extend([limit.saturating_sub(1), limit, limit + 1]);
    }
    // As long as so many chunks of a test with small ones.
    lengths.extend([(1 << 20) + 3, 5 << 20].map(|len: usize| len.min(2000 * chunk + 3)));
    lengths
}

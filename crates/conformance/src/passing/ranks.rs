//! Ranks as threads, and byte patterns that identify messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use derive_more::{Deref, DerefMut};

use crate::ranks::{PATIENCE, repeat_until, threads, two};
use crate::{Harness, Result};
use bandgap_comm::passing::{INLINE, MessageId, Passing, Tuning};
use bandgap_comm::{AnyEndpoint, Bulk, DeadlineWatch, Part, Pending, Rank, Waiting};

/// Offset of the slots in the exposed memory. It is not 0, so that a forgotten offset is detected.
const AT: usize = 4096;

/// Bytes before and after each part that no message may change.
const GUARD: usize = 16;
const UNTOUCHED: u8 = 0xEE;

/// A message in flight.
type Moving = Pending<MessageId>;

/// A rank under test, which allocates parts of its memory one after another.
#[derive(Deref, DerefMut)]
pub(super) struct Ranks {
    #[deref]
    #[deref_mut]
    passing: Passing<AnyEndpoint, DeadlineWatch>,
    free: usize,
}

impl Ranks {
    /// Frees all parts, and makes room for this many parts with this many bytes in all.
    pub(super) fn reserve(&mut self, parts: usize, bytes: usize) {
        self.passing.resize(bytes + (parts + 1) * GUARD);
        self.passing.memory_mut().fill(UNTOUCHED);
        self.free = GUARD;
    }

    /// A new part of `len` bytes.
    pub(super) fn room(&mut self, len: usize) -> Part {
        let part = Part::new(self.free, len);
        self.free = part.end() + GUARD;
        assert!(self.free <= self.passing.memory().len(), "more parts than were reserved");
        part
    }

    /// A new part that holds `bytes`.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Part {
        let part = self.room(bytes.len());
        self.passing.memory_mut()[part.range()].copy_from_slice(bytes);
        part
    }

    /// Compares a part and the guards around it, without printing megabytes.
    pub(super) fn assert_bytes(&self, part: Part, expected: &[u8], what: &str) {
        let memory = self.passing.memory();
        let got = &memory[part.range()];
        assert_eq!(got.len(), expected.len(), "{what}");
        if let Some(at) = got.iter().zip(expected).position(|(got, expected)| got != expected) {
            panic!("{what}: byte {at} of {} is {}, not {}", got.len(), got[at], expected[at]);
        }
        for around in [part.at - GUARD..part.at, part.end()..part.end() + GUARD] {
            assert_eq!(memory[around], [UNTOUCHED; GUARD], "{what}: beside {part:?}");
        }
    }

    /// Sends bytes from a new part, and waits.
    pub(super) fn send_bytes(&mut self, peer: Rank, tag: u32, bytes: &[u8]) -> Result {
        let part = self.put(bytes);
        self.send(peer, tag, part)
    }

    /// Begins to send bytes from a new part.
    pub(super) fn isend_bytes(&mut self, peer: Rank, tag: u32, bytes: &[u8]) -> Result<Moving> {
        let part = self.put(bytes);
        self.isend(peer, tag, part)
    }

    /// Posts a receive of `len` bytes into a new part.
    pub(super) fn irecv_room(
        &mut self,
        peer: Rank,
        tag: u32,
        len: usize,
    ) -> Result<(Moving, Part)> {
        let part = self.room(len);
        Ok((self.irecv(peer, tag, part)?, part))
    }

    /// Receives `len` bytes into a new part.
    pub(super) fn recv_room(&mut self, peer: Rank, tag: u32, len: usize) -> Result<Part> {
        let part = self.room(len);
        self.recv(peer, tag, part).map(|()| part)
    }

    /// Asserts that every message was received, and every send and receive waited for.
    fn assert_empty(&self) {
        assert!(self.is_empty(), "something is left at rank {}", self.passing.rank());
    }
}

/// The ranks of a new run.
pub(super) fn ranks(made: &Harness, size: usize) -> Vec<Ranks> {
    let exposed = AT + made.tuning.memory(size);
    let rank = |endpoint: AnyEndpoint| {
        assert!(endpoint.exposed() >= exposed);
        let watch = DeadlineWatch(PATIENCE);
        let passing = Passing::new(endpoint, AT, &made.tuning, Waiting::Yield, watch);
        let passing = passing.and_then(|mut passing| {
            let way = (made.way)(passing.rank());
            passing.set_way(way).map(|()| passing)
        });
        match passing {
            Ok(passing) => Ranks { passing, free: 0 },
            Err(error) => panic!("failed to {error}"),
        }
    };
    (made.endpoints)(size, exposed).into_iter().map(rank).collect()
}

/// Two ranks that take turns in one thread.
pub(super) fn pair(made: &Harness) -> [Ranks; 2] {
    two(ranks(made, 2))
}

/// Makes progress until `done`.
fn serve(rank: &mut Ranks, done: impl Fn(&Ranks) -> bool) -> Result {
    let since = Instant::now();
    while !done(rank) {
        rank.progress()?;
        assert!(since.elapsed() < PATIENCE, "something is left");
        thread::yield_now();
    }
    Ok(())
}

/// Runs `program` on each rank of a new run. Each rank is a thread that makes progress until all
/// have finished.
pub(super) fn run(made: &Harness, size: usize, program: impl Fn(&mut Ranks) -> Result + Sync) {
    let [finished, settled] = [const { AtomicUsize::new(0) }; 2];
    threads(ranks(made, size), |rank| {
        program(rank)?;
        rank.settle()?;
        finished.fetch_add(1, Ordering::SeqCst);
        // Pieces of a refused message may come last.
        serve(rank, |rank| finished.load(Ordering::SeqCst) == size && rank.is_empty())?;
        rank.settle()?;
        settled.fetch_add(1, Ordering::SeqCst);
        // Peers may still need room for the slots that they return.
        serve(rank, |_| settled.load(Ordering::SeqCst) == size)?;
        rank.assert_empty();
        Ok(())
    });
}

/// Lets both ranks make progress until `done`, which may also receive.
///
/// # Panics
/// If it takes longer than [`PATIENCE`].
pub(super) fn turns(
    pair: &mut [Ranks; 2],
    what: &str,
    mut done: impl FnMut(&mut [Ranks; 2]) -> bool,
) {
    repeat_until(what, || {
        let is_done = done(pair);
        for rank in pair.iter_mut().filter(|_| !is_done) {
            if let Err(error) = rank.progress() {
                panic!("rank {} failed to {error}", rank.rank());
            }
        }
        is_done
    });
}

/// Lets both ranks make progress until the message of rank `index` is complete, and waits for it.
pub(super) fn end(pair: &mut [Ranks; 2], index: usize, message: Moving, what: &str) {
    turns(pair, what, |pair| pair[index].is_over(&message));
    pair[index].wait(message).expect("it is over");
}

/// Lets both ranks send what they owe, and asserts that nothing is left.
pub(super) fn finish(mut pair: [Ranks; 2]) {
    turns(&mut pair, "room", |pair| pair.iter().all(|rank| rank.has_settled()));
    pair.iter().for_each(Ranks::assert_empty);
}

/// A byte pattern without relation between neighbours, different for each seed.
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

/// A length for each protocol: inline in words, in one slot, and in several pieces, the last of
/// which wait for an answer.
pub(super) fn one_of_each(tuning: &Tuning) -> [usize; 3] {
    let one_slot = (2 * tuning.request - 1).min(tuning.chunk);
    [11, one_slot.max(INLINE + 1), (tuning.slots + 1) * tuning.chunk + 5]
}

/// Lengths on both sides of every limit.
pub(super) fn around_limits(tuning: &Tuning) -> Vec<usize> {
    let Tuning { chunk, slots, request } = *tuning;
    let mut lengths = vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17];
    for limit in
        [INLINE, 2 * request, 6 * request, chunk, 2 * chunk, slots * chunk, (slots + 1) * chunk]
    {
        lengths.extend([limit.saturating_sub(1), limit, limit + 1]);
    }
    // For tests with small chunks, at most 2000 chunks.
    lengths.extend([(1 << 20) + 3, 5 << 20].map(|len: usize| len.min(2000 * chunk + 3)));
    lengths
}

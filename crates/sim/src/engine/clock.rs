//! What a replay knows of a time: when it is; or also how it grows with the machine's parameters, and what it came from.

use std::cmp::Ordering;
use std::fmt::Debug;

/// A time; the default is 0.
pub(crate) trait Time: Copy + Default + Ord + Debug {
    fn picoseconds(self) -> u64;

    /// The later one of two.
    fn later(self, other: Self) -> Self;
}

impl Time for u64 {
    #[inline(always)]
    fn picoseconds(self) -> u64 {
        self
    }

    #[inline(always)]
    fn later(self, other: Self) -> Self {
        self.max(other)
    }
}

/// The parameter that a cost consists of; of G with how often it does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    Overhead,
    Latency,
    Gap,
    Bytes(u32),
    Computation,
}

/// What led from a moment to a time: with its interfaces, a message has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing: it is the moment itself, as the end of a work.
    Moment,
    /// A message's first byte was under way.
    Flight,
    /// Then its other bytes were.
    Transfer,
    /// It held the interface of its sender for g, or for its bytes.
    OutGap,
    OutBytes,
    /// It held that of its receiver.
    InGap,
    InBytes,
}

/// What a processor does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work<T> {
    Compute,
    Send {
        to: u32,
        bytes: Option<u32>,
    },
    /// `ready` is when the message is whole.
    Receive {
        ready: T,
        bytes: Option<u32>,
    },
}

/// Makes times of earlier times.
pub(crate) trait Clock: Debug {
    type At: Time;

    /// When a step ends that begins at `at`.
    fn step(&self, at: Self::At, picoseconds: u64, cost: Cost, step: Step) -> Self::At;

    /// When the work of a rank's processor ends that begins at `at`.
    fn work(&mut self, rank: u32, at: Self::At, picoseconds: u64, work: Work<Self::At>)
    -> Self::At;

    /// When a message goes on at a rank that is there at `own`, and before `other` may not.
    fn wait(&mut self, rank: u32, own: Self::At, other: Self::At) -> Self::At;

    /// Two events whose order is of importance follow each other.
    fn meet(&mut self, one: Self::At, other: Self::At);

    /// When an interface is free again that a message holds from `start` on.
    #[inline(always)]
    fn held(
        &self,
        start: Self::At,
        [gap, transfer]: [u64; 2],
        bytes: Option<u32>,
        [by_gap, by_bytes]: [Step; 2],
    ) -> Self::At {
        let for_gap = |clock: &Self| clock.step(start, gap, Cost::Gap, by_gap);
        let for_bytes =
            |clock: &Self| clock.step(start, transfer, Cost::Bytes(bytes.unwrap_or(0)), by_bytes);
        match gap.cmp(&transfer) {
            Ordering::Greater => for_gap(self),
            Ordering::Less => for_bytes(self),
            Ordering::Equal => for_gap(self).later(for_bytes(self)),
        }
    }
}

/// When it is, and nothing else: picoseconds.
#[derive(Debug)]
pub(crate) struct Plain;

impl Clock for Plain {
    type At = u64;

    #[inline(always)]
    fn step(&self, at: u64, picoseconds: u64, _: Cost, _: Step) -> u64 {
        at.saturating_add(picoseconds)
    }

    #[inline(always)]
    fn work(&mut self, _: u32, at: u64, picoseconds: u64, _: Work<u64>) -> u64 {
        at.saturating_add(picoseconds)
    }

    #[inline(always)]
    fn wait(&mut self, _: u32, own: u64, other: u64) -> u64 {
        own.max(other)
    }

    #[inline(always)]
    fn meet(&mut self, _: u64, _: u64) {}
}

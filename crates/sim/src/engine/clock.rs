//! Clocks of a replay. The simplest knows only when a time is; others also know how it grows with
//! the machine's parameters, and what led to it.

use std::fmt::Debug;

/// A time; the default is 0.
pub(crate) trait Time: Copy + Default + Ord + Debug {
    fn picoseconds(self) -> u64;

    /// The later of two times.
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

/// The parameter that a cost consists of; for G, with the number of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    Overhead,
    Latency,
    Gap,
    Bytes(u32),
    Computation,
}

/// The step from a moment to a time: a message has several steps at its interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// None: the time is the moment itself, such as the end of a work.
    Moment,
    /// The flight of a message's first byte.
    Flight,
    /// The flight of its other bytes.
    Transfer,
    /// The sender's interface is held, for g or for the bytes.
    OutGap,
    OutBytes,
    /// The receiver's interface is held.
    InGap,
    InBytes,
    /// The sender's interface is held for the turnaround of a request.
    OutTurn,
}

/// Work of a processor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work<T> {
    Compute,
    Send {
        to: u32,
        bytes: Option<u32>,
    },
    /// `ready` is the time at which the message is complete.
    Receive {
        ready: T,
        bytes: Option<u32>,
    },
}

/// Computes times from earlier times.
pub(crate) trait Clock: Debug {
    type At: Time;

    /// Time at which a step ends that begins at `at`.
    fn step(&self, at: Self::At, picoseconds: u64, cost: Cost, step: Step) -> Self::At;

    /// Time at which the work of a rank's processor ends that begins at `at`.
    fn work(&mut self, rank: u32, at: Self::At, picoseconds: u64, work: Work<Self::At>)
    -> Self::At;

    /// Time at which a message continues: it is ready at rank `rank` at `own`, and may not continue
    /// before `other`.
    fn wait(&mut self, rank: u32, own: Self::At, other: Self::At) -> Self::At;

    /// Notes that the order of two consecutive events matters.
    fn meet(&mut self, _one: Self::At, _other: Self::At) {}

    /// Time at which an interface is free again that a message holds from `start` on.
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
        if gap > transfer {
            for_gap(self)
        } else if gap < transfer {
            for_bytes(self)
        } else {
            for_gap(self).later(for_bytes(self))
        }
    }
}

/// Knows only when a time is, in picoseconds.
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
}

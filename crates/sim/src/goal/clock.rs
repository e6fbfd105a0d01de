//! Clocks of a replay. The simplest knows only when a time is; others also know how it grows with a
//! parameter, and what led to it.

use std::cmp::Ordering;

use derive_more::{Eq, Into, PartialEq};

use super::loggops::{Loggops, PER_BYTE, Step};

/// Computes times from earlier times.
pub(super) trait Clock {
    /// A time; the default is 0. Equal times are the same to a replay.
    type At: Copy + Ord + Default + Into<i64>;

    /// Time at which a computation of `picoseconds` ends that begins at `at`.
    fn compute(&mut self, at: Self::At, operation: u32, picoseconds: i64) -> Self::At;

    /// Time at which a step of a message (its operation and its bytes) ends that begins at `at`.
    fn step(&mut self, at: Self::At, message: (u32, u64), step: Step) -> Self::At;

    /// Times at which steps of a message end that all begin at `at`.
    fn steps<const N: usize>(
        &mut self,
        at: Self::At,
        message: (u32, u64),
        steps: [Step; N],
    ) -> [Self::At; N] {
        steps.map(|step| self.step(at, message, step))
    }

    /// Notes that the result depends on which of two times is later.
    fn meet(&mut self, _: Self::At, _: Self::At) {}

    /// Notes that an event happens at a time. What becomes ready may be in the past of its rank.
    fn follow(&mut self, _: Self::At) {}
}

/// A clock whose times know what led to them, and how they grow with each parameter.
pub(super) struct Traced<'a> {
    pub loggops: &'a Loggops,
    /// Everything that happened.
    pub past: Vec<Past>,
    /// For L, o, g and G: whether an infinitesimal change decides something, since equal times grow
    /// differently. If not, both derivatives equal the growth of the times.
    pub ties: [bool; 4],
    /// Times of recent events, the latest first, without those that a later event has followed.
    recent: Vec<Trace>,
}

/// What led to times: an operation (for a message, its send), the steps, and their beginning. A
/// computation has no steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    pub operation: u32,
    pub steps: [Option<Step>; 3],
    pub from: Trace,
}

/// A time with its growth and its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Into)]
pub(super) struct Trace {
    #[into]
    pub picoseconds: i64,
    /// Growth with L, o, g and G.
    #[eq(skip)]
    pub growth: [i64; 4],
    /// Four times the number of the past entry (from 1), plus the number of its step; 0 for the
    /// beginning.
    #[eq(skip)]
    source: u64,
}

impl Ord for Trace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.picoseconds.cmp(&other.picoseconds)
    }
}

impl PartialOrd for Trace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a> Traced<'a> {
    /// A clock without a past.
    pub fn new(loggops: &'a Loggops) -> Self {
        Self { loggops, past: Vec::new(), ties: [false; 4], recent: Vec::new() }
    }

    /// What led to a time, and by which step.
    pub fn source(&self, at: Trace) -> Option<(&Past, Option<Step>)> {
        let past = self.past.get((at.source >> 2).checked_sub(1)? as usize)?;
        Some((past, past.steps[(at.source & 3) as usize]))
    }

    fn keep(&mut self, from: Trace, operation: u32, steps: [Option<Step>; 3]) -> u64 {
        self.past.push(Past { operation, steps, from });
        4 * self.past.len() as u64
    }
}

impl Clock for Traced<'_> {
    type At = Trace;

    fn compute(&mut self, at: Trace, operation: u32, picoseconds: i64) -> Trace {
        let source = self.keep(at, operation, [None; 3]);
        Trace { picoseconds: at.picoseconds.saturating_add(picoseconds), source, ..at }
    }

    fn step(&mut self, mut at: Trace, (_, size): (u32, u64), step: Step) -> Trace {
        let counts = self.loggops.counts(step, size, (0, 0));
        self.ties[PER_BYTE] |= step == Step::Taking && self.loggops.may_be_either(size);
        at.picoseconds = at.picoseconds.saturating_add(self.loggops.cost(counts));
        for (growth, count) in at.growth.iter_mut().zip(counts) {
            *growth = growth.saturating_add(count);
        }
        at
    }

    fn steps<const N: usize>(
        &mut self,
        at: Trace,
        message: (u32, u64),
        steps: [Step; N],
    ) -> [Trace; N] {
        let source = self.keep(at, message.0, [0, 1, 2].map(|of| steps.get(of).copied()));
        let mut sources = source..;
        steps.map(|step| {
            let source = sources.next().unwrap_or(source);
            Trace { source, ..self.step(at, message, step) }
        })
    }

    fn meet(&mut self, one: Trace, other: Trace) {
        if one == other && one.growth != other.growth {
            for (tie, two) in self.ties.iter_mut().zip(one.growth.iter().zip(other.growth)) {
                *tie |= *two.0 != two.1;
            }
        }
    }

    fn follow(&mut self, at: Trace) {
        while let Some(before) = self.recent.pop_if(|before| *before <= at) {
            self.meet(before, at);
        }
        self.recent.push(at);
    }
}

/// A clock for a parameter that is changed by an infinitesimal amount.
pub(super) struct Leaning<'a> {
    pub loggops: &'a Loggops,
    /// The parameter, and 1 for an increase or −1 for a decrease.
    pub towards: (usize, i64),
}

/// A time, and its infinitesimal change, which decides between equal times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Into)]
pub(super) struct Leant {
    #[into]
    pub picoseconds: i64,
    pub growth: i64,
}

impl Clock for Leaning<'_> {
    type At = Leant;

    fn compute(&mut self, at: Leant, _: u32, picoseconds: i64) -> Leant {
        Leant { picoseconds: at.picoseconds.saturating_add(picoseconds), ..at }
    }

    fn step(&mut self, at: Leant, (_, size): (u32, u64), step: Step) -> Leant {
        let counts = self.loggops.counts(step, size, self.towards);
        let growth = counts[self.towards.0].saturating_mul(self.towards.1);
        Leant {
            picoseconds: at.picoseconds.saturating_add(self.loggops.cost(counts)),
            growth: at.growth.saturating_add(growth),
        }
    }
}

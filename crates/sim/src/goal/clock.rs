//! What a replay knows of a time: when it is; how it grows with a parameter; or what it came from.

use std::cmp::Ordering;

use super::loggops::{Loggops, Parameter, Step};

/// Makes times of earlier times. Times of one clock that are equal are the same to a replay.
pub(super) trait Clock {
    /// A time; the default is 0.
    type At: Copy + Ord + Default;

    /// Its picoseconds.
    fn picoseconds(at: Self::At) -> i64;

    /// When a computation of so many picoseconds that begins at `at` ends.
    fn compute(&mut self, at: Self::At, operation: u32, picoseconds: i64) -> Self::At;

    /// When steps of one message end that begin at `at`.
    fn steps<const N: usize>(
        &mut self,
        at: Self::At,
        message: u32,
        size: u64,
        steps: [Step; N],
    ) -> [Self::At; N];
}

/// When it is, and nothing else: picoseconds.
pub(super) struct Plain<'a>(pub &'a Loggops);

impl Clock for Plain<'_> {
    type At = i64;

    fn picoseconds(at: i64) -> i64 {
        at
    }

    fn compute(&mut self, at: i64, _: u32, picoseconds: i64) -> i64 {
        at.saturating_add(picoseconds)
    }

    fn steps<const N: usize>(&mut self, at: i64, _: u32, size: u64, steps: [Step; N]) -> [i64; N] {
        steps.map(|step| at.saturating_add(self.0.cost(step, size)))
    }
}

/// Times if a parameter were greater or less by an infinitely small amount.
pub(super) struct Sloped<'a> {
    pub loggops: &'a Loggops,
    pub parameter: Parameter,
    /// 1 for greater, -1 for less.
    pub sign: i64,
}

/// Picoseconds, and what the small amount adds, which decides between equal ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slope {
    pub picoseconds: i64,
    pub growth: i64,
}

impl Clock for Sloped<'_> {
    type At = Slope;

    fn picoseconds(at: Slope) -> i64 {
        at.picoseconds
    }

    fn compute(&mut self, at: Slope, _: u32, picoseconds: i64) -> Slope {
        Slope { picoseconds: at.picoseconds.saturating_add(picoseconds), ..at }
    }

    fn steps<const N: usize>(
        &mut self,
        at: Slope,
        _: u32,
        size: u64,
        steps: [Step; N],
    ) -> [Slope; N] {
        steps.map(|step| {
            let counts = self.loggops.counts(step, size, self.parameter, self.sign);
            Slope {
                picoseconds: at.picoseconds.saturating_add(self.loggops.cost(step, size)),
                growth: at.growth.saturating_add(self.sign * counts),
            }
        })
    }
}

/// Times that know what they came from.
pub(super) struct Traced<'a> {
    pub loggops: &'a Loggops,
    /// What happened: each with the time at which it began.
    pub past: Vec<Past>,
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    /// When it began.
    pub from: Trace,
    /// Its operation; of a message that which sent it.
    pub operation: u32,
    /// What of it led to a time; none for a computation.
    pub steps: Option<[Step; 3]>,
}

/// Picoseconds, and where in the past they come from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trace {
    pub picoseconds: i64,
    /// Four times the number of what happened, from 1, and the number of its step; 0 for the beginning.
    pub source: u64,
}

impl PartialEq for Trace {
    fn eq(&self, other: &Self) -> bool {
        self.picoseconds == other.picoseconds
    }
}

impl Eq for Trace {}

impl PartialOrd for Trace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Trace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.picoseconds.cmp(&other.picoseconds)
    }
}

impl Traced<'_> {
    /// What led to a time: the event, and which of its steps.
    pub fn source(&self, at: Trace) -> Option<(Past, usize)> {
        let number = (at.source >> 2).checked_sub(1)?;
        Some((self.past[number as usize], (at.source & 3) as usize))
    }
}

impl Clock for Traced<'_> {
    type At = Trace;

    fn picoseconds(at: Trace) -> i64 {
        at.picoseconds
    }

    fn compute(&mut self, at: Trace, operation: u32, picoseconds: i64) -> Trace {
        self.past.push(Past { from: at, operation, steps: None });
        let source = 4 * self.past.len() as u64;
        Trace { picoseconds: at.picoseconds.saturating_add(picoseconds), source }
    }

    fn steps<const N: usize>(
        &mut self,
        at: Trace,
        message: u32,
        size: u64,
        steps: [Step; N],
    ) -> [Trace; N] {
        let of = |at: usize| steps.get(at).copied().unwrap_or(steps[0]);
        let all = Some([of(0), of(1), of(2)]);
        self.past.push(Past { from: at, operation: message, steps: all });
        let mut source = 4 * self.past.len() as u64;
        steps.map(|step| {
            let picoseconds = at.picoseconds.saturating_add(self.loggops.cost(step, size));
            let trace = Trace { picoseconds, source };
            source += 1;
            trace
        })
    }
}

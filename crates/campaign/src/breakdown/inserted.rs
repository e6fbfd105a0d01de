//! What comes back of computations of known length that were inserted at the borders.

use bandgap_comm::division::{ByRound, Division, Model, Part};
use bandgap_stats::interval::Interval;

use super::rounds::{by_round, complete, inside, middles, over};
use super::{TOLERANCE, WHOLE_TIME, inserted_key, key};
use crate::judge::{Judged, round};
use crate::key::Key;

/// By how much something became longer, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Longer {
    /// The mean over the rounds.
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
    /// How long the computation took by itself in the same rounds; of one before each poll half of it, since what arrives
    /// waits for half of it.
    pub inserted: f64,
    /// The interval of the difference of the two, taken by round.
    pub off: Interval,
    /// Rounds that these rest on.
    pub rounds: usize,
}

/// What became longer by a computation that was inserted.
#[derive(Clone, Debug, PartialEq)]
pub struct Came {
    /// The component that it is in.
    pub component: &'static str,
    /// The component.
    pub part: Longer,
    /// The whole time.
    pub whole: Longer,
}

/// An inserted computation comes back if it does within this, in nanoseconds, however short it is.
const NEAR: f64 = 5.0;

impl Longer {
    /// Whether it became longer by what was inserted, within 5 % or 5 ns: the interval of the difference lies inside, or
    /// outside. `None` where it is undecided.
    pub fn comes_back(&self) -> Option<bool> {
        comes_back(self.inserted, self.off)
    }

    /// By how much what has the second of these keys is longer than what has the first, in rounds that have both; so
    /// large a share of it, and of the computation, counts.
    fn of(judged: &Judged<'_>, keys: [&Key; 2], shares: [f64; 2]) -> Option<Self> {
        let [without, with] = keys.map(|key| by_round(judged, key));
        let alone = alone_by_round(judged, keys[1]);
        let all = [&without, &with, &alone];
        let kept = inside(&all, &complete(&all));
        let longer = |round: &u64| shares[0] * (with[round] - without[round]);
        let inserted = |round: &u64| shares[1] * alone[round];
        let mean = |of: &dyn Fn(&u64) -> f64| {
            over(&kept, &kept.iter().map(of).collect::<Vec<f64>>(), judged.confidence)
        };
        let (value, interval) = mean(&longer)?;
        let (_, off) = mean(&|round| longer(round) - inserted(round))?;
        let (inserted, _) = mean(&inserted)?;
        Some(Self { value, interval, inserted, off, rounds: kept.len() })
    }
}

/// How long what was inserted takes by itself, beside the batches of each round.
fn alone_by_round(judged: &Judged<'_>, key: &Key) -> ByRound {
    let counts = judged.table.batches(key).iter().filter(|batch| judged.counts(key, batch));
    middles(counts.filter_map(|batch| Some((round(batch), batch.delay?))))
}

fn comes_back(inserted: f64, off: Interval) -> Option<bool> {
    let reach = (TOLERANCE * inserted).max(NEAR);
    let Interval { low, high } = off;
    let (inside, outside) = (low >= -reach && high <= reach, high < -reach || low > reach);
    (inside || outside).then_some(inside)
}

/// What came back of the computations that were inserted, in the state that is seen.
pub fn came_back(judged: &Judged<'_>, division: &Division, inserted: &[f64]) -> Vec<Came> {
    let one = |model: &Model, part: &Part, ns: f64| {
        let longer = |of: &str, share: f64| {
            let keys = [key(model, of), inserted_key(model, of, part.name, ns)];
            Longer::of(judged, keys.each_ref(), [share, part.share])
        };
        let (component, whole) = (part.name, longer(WHOLE_TIME, 1.0)?);
        Some(Came { component, part: longer(part.name, part.share)?, whole })
    };
    let borders = |ns| division.borders().map(move |(model, part, _)| (model, part, ns));
    let all = inserted.iter().flat_map(|&ns| borders(ns));
    all.filter_map(|(model, part, ns)| one(model, part, ns)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insertion_comes_back_within_five_percent_or_five_nanoseconds() {
        let of = |inserted, low, high| {
            let off = Interval { low: low - inserted, high: high - inserted };
            comes_back(inserted, off)
        };
        assert_eq!(of(50.0, 45.1, 54.9), Some(true));
        assert_eq!(of(50.0, 44.0, 54.9), None);
        assert_eq!(of(50.0, 30.0, 44.9), Some(false));
        assert_eq!(of(1000.0, 951.0, 1049.0), Some(true));
        assert_eq!(of(1000.0, 1051.0, 1060.0), Some(false));
    }
}

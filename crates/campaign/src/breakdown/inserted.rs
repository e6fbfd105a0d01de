//! Whether computations of known length, inserted at the borders, show up in the measured times.

use bandgap_comm::division::{ByRound, Division, Model, Part};
use bandgap_stats::BatchEstimate;
use bandgap_stats::interval::Interval;
use bandgap_stats::quantile::median;

use super::rounds::{by_round, complete, inside, of_rounds, over};
use super::{TOLERANCE, WHOLE_TIME, inserted_key, key};
use crate::judge::{Judged, round};
use crate::key::Key;

/// By how much a time became longer, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Longer {
    /// Mean over the rounds.
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
    /// Length of the computation alone, measured in the same rounds. If it is done before each
    /// poll, half of it: an arriving message waits for half on average.
    pub inserted: f64,
    /// Interval of the difference between the two, paired by round.
    pub off: Interval,
    /// Number of rounds.
    pub rounds: usize,
}

/// The effect of one inserted computation.
#[derive(Clone, Debug, PartialEq)]
pub struct Came {
    /// The component into which it was inserted.
    pub component: &'static str,
    /// The component.
    pub part: Longer,
    /// The whole time.
    pub whole: Longer,
}

/// Difference, in nanoseconds, within which a computation counts as found, however short it is.
const NEAR: f64 = 5.0;

impl Longer {
    /// Whether the time grew by the inserted computation, within 5 % or 5 ns. `None` if the
    /// interval of the difference lies neither inside nor outside.
    pub fn comes_back(&self) -> Option<bool> {
        let reach = (TOLERANCE * self.inserted).max(NEAR);
        let Interval { low, high } = self.off;
        let (inside, outside) = (low >= -reach && high <= reach, high < -reach || low > reach);
        (inside || outside).then_some(inside)
    }

    /// How much longer the time of the second key is than that of the first, over the rounds that
    /// have both. `shares` scale the difference and the computation.
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
        let BatchEstimate { value, interval, .. } = mean(&longer)?;
        let off = mean(&|round| longer(round) - inserted(round))?.interval;
        let inserted = mean(&inserted)?.value;
        Some(Self { value, interval, inserted, off, rounds: kept.len() })
    }
}

/// The length of the inserted computation alone, in each round.
fn alone_by_round(judged: &Judged<'_>, key: &Key) -> ByRound {
    let counts = judged.table.batches(key).iter().filter(|batch| judged.counts(key, batch));
    of_rounds(counts.filter_map(|batch| Some((round(batch), batch.delay?))), median)
}

/// The effects of the inserted computations, from batches in the main placement state.
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
            let longer = Longer { value: 0.0, interval: off, inserted, off, rounds: 2 };
            longer.comes_back()
        };
        assert_eq!(of(50.0, 45.1, 54.9), Some(true));
        assert_eq!(of(50.0, 44.0, 54.9), None);
        assert_eq!(of(50.0, 30.0, 44.9), Some(false));
        assert_eq!(of(1000.0, 951.0, 1049.0), Some(true));
        assert_eq!(of(1000.0, 1051.0, 1060.0), Some(false));
    }
}

//! Judging measurements: placement states and convergence.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_stats::{Convergence, Rule};

use crate::data::{Batch, Measurements};
use crate::key::Key;
use crate::placement::Placements;

use bandgap_stats::rounds::InRound;

pub use bandgap_stats::batch_value;

/// Number of low bits that hold the round; the launch is above them.
const ROUND_BITS: u32 = 32;

/// Measurements with their placement states, of which one counts.
#[derive(Clone)]
pub struct Judged<'a> {
    /// What was measured.
    pub table: &'a Measurements,
    /// The confidence level of intervals.
    pub confidence: f64,
    precision: f64,
    /// The seed of resampling.
    pub(crate) seed: u64,
    stamp: f64,
    /// The placement states found.
    pub states: Placements,
    /// The state that counts; `None` if nothing was probed.
    pub seen: Option<usize>,
    /// The state that counts between two ranks, if there are several pairs.
    of_pairs: BTreeMap<[u64; 2], usize>,
    /// Δ as measured, in nanoseconds, by Δ as asked for, in picoseconds.
    delays: BTreeMap<u64, f64>,
}

impl<'a> Judged<'a> {
    /// Judges `table` by its main state, with intervals of this confidence and this precision.
    pub fn of(table: &'a Measurements, confidence: f64, precision: f64, seed: u64) -> Self {
        let probes: Vec<_> = table
            .executed()
            .filter(|(_, batch)| batch.rejected.is_none())
            .filter_map(|(_, batch)| batch.probe)
            .collect();
        let points = table.executed().map(|(key, _)| key).collect::<BTreeSet<_>>().len();
        let states = Placements::find(&probes, points);
        let seen = states.main();
        let mut judged = Self {
            table,
            confidence,
            precision,
            seed,
            stamp: 0.0,
            states,
            seen,
            of_pairs: BTreeMap::new(),
            delays: BTreeMap::new(),
        };
        judged.of_pairs = judged.pairs();
        judged.with_delays()
    }

    /// The same for times from which stamps of this cost, in nanoseconds, were removed. Stamps
    /// limit how well a short time can be known.
    pub fn stamped(self, stamp: f64) -> Self {
        Self { stamp, ..self }
    }

    /// The rule for intervals of times that contain the whole cost of a stamp.
    pub fn rule(&self) -> Rule {
        Rule { precision: self.precision, stamp: self.stamp }
    }

    /// The rule for the interval of this key's time, which is the time of one of the operations in
    /// a sample.
    pub fn rule_of(&self, key: &Key) -> Rule {
        self.rule().for_one_of(self.table.point(key).map_or(1.0, |point| point.timed))
    }

    /// The same states over part of the measurements.
    pub fn over(&self, table: &'a Measurements) -> Self {
        Self { table, ..self.clone() }.with_delays()
    }

    /// The same states and delays over the batches of one launch.
    pub fn in_launch(&self, table: &'a Measurements) -> Self {
        Self { table, ..self.clone() }
    }

    /// The state of a batch; `None` if it was not probed or belongs to no state.
    pub fn state(&self, batch: &Batch) -> Option<usize> {
        batch.probe.and_then(|probe| self.states.label(&probe))
    }

    /// Whether a batch of `key` counts: it was not rejected, and is in the main state. If several
    /// pairs of ranks were measured, it must be in the commonest state of its own pair.
    pub fn counts(&self, key: &Key, batch: &Batch) -> bool {
        let seen = || pair_of(key).and_then(|pair| self.of_pairs.get(&pair).copied()).or(self.seen);
        batch.rejected.is_none() && (batch.probe.is_none() || self.state(batch) == seen())
    }

    /// The values of the batches that count, with their rounds, by launch.
    pub fn by_launch(&self, key: &Key) -> BTreeMap<u32, Vec<InRound>> {
        let mut found = BTreeMap::<u32, Vec<InRound>>::new();
        for (round, value) in self.in_rounds(key) {
            found.entry(launch_of(round)).or_default().push((round, value));
        }
        found
    }

    /// The values of the batches that count, each with its launch and round ([`round`]). Batches of
    /// one round of a launch are neighbours in time.
    pub fn in_rounds(&self, key: &Key) -> impl Iterator<Item = InRound> {
        let (messages, delay) = match delayed(key) {
            Some((messages, delay_ps)) => (messages as f64, self.delay(delay_ps)),
            None => (0.0, 0.0),
        };
        self.table
            .batches(key)
            .iter()
            .filter(|batch| self.counts(key, batch) && !batch.samples.is_empty())
            .map(move |batch| {
                let off = batch.delay.map_or(0.0, |own| own - delay);
                (round(batch), batch_value(&batch.samples) - messages * off)
            })
    }

    /// The estimate of `key`. Its interval includes the variance between launches. `None` while
    /// there are fewer than two batches.
    pub fn point(&self, key: &Key) -> Option<bandgap_stats::BatchEstimate> {
        let of = |(round, value)| (launch_of(round), round, value);
        bandgap_stats::estimate(&self.in_rounds(key).map(of).collect::<Vec<_>>(), self.confidence)
    }

    /// Whether `key` has enough batches and an interval as narrow as asked for.
    pub fn convergence(&self, key: &Key) -> Convergence {
        self.point(key).map_or(Convergence::No, |point| self.rule_of(key).judge_point(&point))
    }

    /// Δ in nanoseconds, as measured just before and after the batches that count; as asked for if
    /// it was not measured.
    pub fn delay(&self, delay_ps: u64) -> f64 {
        self.delays.get(&delay_ps).copied().unwrap_or(delay_ps as f64 / 1e3)
    }

    /// The commonest state of each pair of ranks; empty if there is only one pair.
    fn pairs(&self) -> BTreeMap<[u64; 2], usize> {
        let mut batches = BTreeMap::<[u64; 2], BTreeMap<usize, usize>>::new();
        for (key, batch) in self.table.executed().filter(|(_, batch)| batch.rejected.is_none()) {
            if let (Some(pair), Some(state)) = (pair_of(key), self.state(batch)) {
                *batches.entry(pair).or_default().entry(state).or_default() += 1;
            }
        }
        if batches.len() < 2 {
            return BTreeMap::new();
        }
        let most = |of: BTreeMap<usize, usize>| of.into_iter().rev().max_by_key(|(_, n)| *n);
        batches.into_iter().filter_map(|(pair, of)| Some((pair, most(of)?.0))).collect()
    }

    /// Collects the measured Δ for [`Judged::delay`].
    fn with_delays(mut self) -> Self {
        let mut found: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (key, batches) in self.table.iter() {
            let Some((_, delay_ps)) = delayed(key) else { continue };
            let counted = batches.iter().filter(|batch| self.counts(key, batch));
            found.entry(delay_ps).or_default().extend(counted.filter_map(|batch| batch.delay));
        }
        let measured = found.into_iter().filter(|(_, delays)| !delays.is_empty());
        self.delays = measured.map(|(asked, delays)| (asked, batch_value(&delays))).collect();
        self
    }
}

/// Whether two times differ by at most this share of the longer one.
pub(crate) fn near(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs())
}

/// A batch's launch and round in one number.
pub fn round(batch: &Batch) -> u64 {
    u64::from(batch.launch) << ROUND_BITS | u64::from(batch.round)
}

/// The launch in such a number.
pub fn launch_of(round: u64) -> u32 {
    (round >> ROUND_BITS) as u32
}

/// The two ranks that a key names, if it does.
pub(crate) fn pair_of(key: &Key) -> Option<[u64; 2]> {
    let named = |[from, to]: [&str; 2]| Some([key.number(from)?, key.number(to)?]);
    named(["from", "to"]).or_else(|| named(["requester", "replier"]))
}

/// M and Δ in picoseconds, if a key has both.
pub fn delayed(key: &Key) -> Option<(u64, u64)> {
    Some((key.number("messages")?, key.number("delay_ps")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Kept, Probe};

    fn table(values: &[f64]) -> Measurements {
        let mut table = Measurements::default();
        for &value in values {
            let batch = Batch { samples: vec![value], ..Batch::default() };
            table.push(Kept::Batch { key: Key::new("a"), batch });
        }
        table
    }

    #[test]
    fn a_point_has_converged_or_is_at_the_limit_of_the_clock_or_neither() {
        // Half-width t(4, 95 %)·√(2.5/5) = 1.963 of 10; 5 % of 40 are 2.
        let wide = table(&[10.0, 8.0, 12.0, 9.0, 11.0]);
        let found = |precision: f64, stamp: f64, key: &str| {
            Judged::of(&wide, 0.95, precision, 1).stamped(stamp).convergence(&Key::new(key))
        };
        assert_eq!(found(0.2, 0.0, "a"), Convergence::Converged);
        assert_eq!(found(0.05, 40.0, "a"), Convergence::ClockLimited);
        // The value and the stamp do not add up.
        assert_eq!(found(0.05, 39.0, "a"), Convergence::No);
        assert_eq!(found(0.2, 0.0, "b"), Convergence::No);
    }

    #[test]
    fn without_probes_no_state_is_looked_from() {
        let mut probed = table(&[]);
        let probe = Some([Probe { cache_line: 100.0, pace: 400.0 }; 2]);
        for _ in 0..5 {
            let batch = Batch { samples: vec![1.0], probe, ..Batch::default() };
            probed.push(Kept::Batch { key: Key::new("a"), batch });
        }
        let seen = |table: &Measurements| Judged::of(table, 0.95, 0.05, 1).seen;
        assert_eq!((seen(&table(&[1.0; 5])), seen(&probed)), (None, Some(0)));
    }

    #[test]
    fn batches_count_in_the_state_looked_from_and_at_one_delay() {
        let key = Key::new("issue").at("messages", 10_u32).at("delay_ps", 5000_u32);
        let mut table = Measurements::default();
        for (cache_line, delay, value, rejected) in [
            (100.0, 5.0, 200.0, None),
            (101.0, 5.2, 202.0, None),
            (102.0, 5.1, 201.0, None),
            (100.0, 9.0, 999.0, Some(crate::data::Rejected::PaceChanged)),
            (300.0, 5.0, 700.0, None),
        ] {
            let probe = Some([Probe { cache_line, pace: 400.0 }; 2]);
            let samples = vec![value];
            let batch = Batch { samples, probe, delay: Some(delay), rejected, ..Batch::default() };
            table.push(Kept::Batch { key: key.clone(), batch });
        }
        let judged = Judged::of(&table, 0.95, 0.05, 1);
        assert!((judged.delay(5000) - 5.1).abs() < 1e-9);
        // Each as if Δ had been 5.1 ns, ten times.
        let values: Vec<f64> = judged.in_rounds(&key).map(|(_, value)| value).collect();
        assert_eq!(values.len(), 3);
        assert!(values.iter().all(|value| (value - 201.0).abs() < 1e-9), "{values:?}");
        assert_eq!(judged.delay(7000), 7.0);
    }
}

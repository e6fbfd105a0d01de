//! The plan of a signature.

use std::collections::BTreeSet;

use bandgap_kernels::{Asking, Pair};
use bandgap_stats::quantile::median;
use serde::{Deserialize, Serialize};

use super::keys::{ISSUE, of_load, rtt};
use crate::data::{Batch, Measurements, Rejected};
use crate::judge::{Judged, delayed};
use crate::key::Key;
use crate::load::Load;
use crate::plan::{Asked, BATCH};
use crate::planned::Planned;
use crate::runner::{Runner, Stop};
use crate::series::Step;

/// The signature that the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignaturePlan {
    /// Precision and time.
    pub asked: Asked,
    /// Samples per batch.
    pub samples: u32,
    /// Who asks whom.
    pub pattern: SignaturePattern,
    /// What each request carries.
    pub load: Load,
    /// The points of an earlier launch, of which all launches have the same; empty in the first one. A single message
    /// without a delay comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spots: Vec<Spot>,
}

/// A point of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    /// M.
    pub messages: u32,
    /// Δ in picoseconds.
    pub delay_ps: u64,
    /// Samples per batch.
    pub samples: u32,
    /// Approximate time of these samples, in nanoseconds.
    pub time: f64,
}

impl SignaturePlan {
    /// A signature of small messages.
    pub fn new(asked: Asked, pattern: SignaturePattern) -> Self {
        Self { asked, samples: BATCH, pattern, load: Load::Words, spots: Vec::new() }
    }

    /// Whether it is compared with floors, which are measured between ranks 0 and 1.
    pub fn has_floors(&self, ranks: usize) -> bool {
        self.pattern.asking().timed(ranks) == [0, 1]
    }
}

/// Who asks whom in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignaturePattern {
    /// Rank 0 asks rank 1.
    OneToOne,
    /// Half of the ranks ask the other half.
    Pairs,
    /// Rank 0 asks all others in turn.
    FanOut,
}

impl SignaturePattern {
    /// The kernel's parameter.
    pub(super) fn asking(self) -> Asking {
        match self {
            Self::OneToOne => Asking::OneToOne(Pair::FIRST),
            Self::Pairs => Asking::Pairs,
            Self::FanOut => Asking::FanOut,
        }
    }
}

impl Planned for SignaturePlan {
    const NAME: &'static str = "logp";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        self.measure(runner, 0.0..1.0)
    }

    fn in_virtual_time(self, _by: &dyn Fn(Step) -> Option<Step>) -> Option<Self> {
        Some(Self { asked: self.asked.in_virtual_time(), ..self })
    }

    fn after(self, table: &Measurements) -> Self {
        let own = of_load(table, self.load);
        let went_round = own.executed().filter(|(_, batch)| batch.round > 0);
        let of_launch = |launch: u32| {
            let is_own = move |batch: &Batch| batch.launch == launch;
            own.of(ISSUE).filter(move |(_, batches)| batches.iter().any(is_own))
        };
        let points = |launch: &u32| of_launch(*launch).count();
        // A launch may have looked while its ranks were elsewhere: its Δ are then those of another machine. The longest is
        // two of the round trips that it saw.
        let judged = Judged::of(&own, self.asked.confidence, self.asked.precision, self.asked.seed);
        let trips: Vec<f64> = judged.in_rounds(&rtt(self.load)).map(|(_, time)| time).collect();
        let round_trip = if trips.is_empty() { 0.0 } else { median(&trips) };
        let suits = |launch: &u32| {
            let longest = of_launch(*launch).filter_map(|(key, _)| Some(delayed(key)?.1)).max();
            self.load.is_transfer() || longest.unwrap_or(0) as f64 >= round_trip * 1e3
        };
        // A launch that was cut short lacks points, and those after it would, too.
        let launches: BTreeSet<u32> = went_round.map(|(_, batch)| batch.launch).collect();
        let fitting = launches.into_iter().filter(suits);
        let Some(launch) = fitting.max_by_key(points) else { return self };
        let least = |key: &Key| {
            let counts = |batch: &&Batch| {
                batch.launch == launch && batch.rejected != Some(Rejected::NotWarm)
            };
            let times = own
                .batches(key)
                .iter()
                .filter(counts)
                .map(|batch| (batch.samples.iter().sum::<f64>(), batch.samples.len() as u32));
            times.filter(|(_, samples)| *samples > 0).min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let rtt = least(&rtt(self.load)).map_or(0.0, |(time, samples)| time / f64::from(samples));
        let mut spots: Vec<Spot> = own
            .of(ISSUE)
            .filter_map(|(key, _)| {
                let (messages, delay_ps) = delayed(key)?;
                let (time, samples) = least(key)?;
                let time = time + rtt * f64::from(samples);
                Some(Spot { messages: messages as u32, delay_ps, samples, time })
            })
            .collect();
        spots.sort_by_key(|spot| (spot.delay_ps, spot.messages));
        Self { spots, ..self }
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        Self::short_of(asked, Load::Words)
    }
}

#[cfg(test)]
impl SignaturePlan {
    /// A short one.
    pub fn short_of(asked: &Asked, load: Load) -> Self {
        Self { samples: 50, load, ..Self::new(asked.clone(), SignaturePattern::OneToOne) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Kept, Probe};
    use crate::signature::issue;

    #[test]
    fn the_points_of_a_launch_that_was_cut_short_are_not_those_of_the_next() {
        let mut table = Measurements::default();
        for (launch, messages) in [(0, 1), (0, 8), (0, 64), (1, 1), (1, 8)] {
            for round in 0..2 {
                let batch = Batch { samples: vec![9.0], launch, round, ..Batch::default() };
                table.push(Kept::Batch { key: issue(Load::Words, messages, 0), batch });
            }
        }
        let plan = SignaturePlan::short_of(&Asked::usual(1.0), Load::Words).after(&table);
        let messages: Vec<u32> = plan.spots.iter().map(|spot| spot.messages).collect();
        assert_eq!(messages, [1, 8, 64]);
    }

    #[test]
    fn the_points_of_a_launch_that_looked_elsewhere_are_not_those_of_the_next() {
        // Round trips and the longest Δ in nanoseconds. A cache line takes 28 ns if the ranks share a core, else 150.
        let launch = |launch, longest: u64, trips: &[f64]| {
            let mut table = Measurements::default();
            let burst = (issue(Load::Words, 9, longest * 1000), 1e4);
            let keys = trips.iter().map(|&time| (rtt(Load::Words), time)).chain([burst]);
            for (round, (key, time)) in keys.chain([(rtt(Load::Words), 240.0)]).enumerate() {
                let cache_line = if time < 100.0 { 28.0 } else { 150.0 };
                let probe = Some([Probe { cache_line, pace: 400.0 }; 2]);
                let (samples, round) = (vec![time; 3], round as u32);
                let batch = Batch { samples, launch, round, probe, ..Batch::default() };
                table.push(Kept::Batch { key, batch });
            }
            table
        };
        let delays = |table: &Measurements| -> Vec<u64> {
            let plan = SignaturePlan::short_of(&Asked::usual(1.0), Load::Words).after(table);
            plan.spots.iter().map(|spot| spot.delay_ps).collect()
        };
        let mut table = launch(0, 110, &[54.0, 244.0, 238.0]);
        assert!(delays(&table).is_empty());
        table.append(launch(1, 480, &[244.0, 238.0]));
        assert_eq!(delays(&table), [480_000]);
    }

    #[test]
    fn floors_are_beside_signatures_of_the_ranks_that_they_are_between() {
        let of = |pattern, ranks| {
            let short = SignaturePlan::short_of(&Asked::usual(1.0), Load::Words);
            SignaturePlan { pattern, ..short }.has_floors(ranks)
        };
        let [one, pairs, fan] =
            [SignaturePattern::OneToOne, SignaturePattern::Pairs, SignaturePattern::FanOut];
        assert!(of(one, 2) && of(one, 4) && of(fan, 3) && of(pairs, 2));
        assert!(!of(pairs, 4));
    }
}

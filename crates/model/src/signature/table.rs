//! The observations, checked, fenced and put in order.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_stats::interval::Interval;
use bandgap_stats::outlier::fence;
use bandgap_stats::quantile::{mean, variance};
use bandgap_units::Ns;

use crate::curve::Curve;
use crate::error::{ModelError, Result};
use crate::linear::{Group, Linear};
use crate::observation::{Observation, Phase, PointKey, place};
use crate::scatter::{OF_ALL, Scatter};

/// The observations as groups of batch values, and the curves over them.
pub(super) struct FencedObservations {
    pub(super) groups: Vec<Group>,
    /// Kind, M and Δ of each group.
    pub(super) places: Vec<(Phase, u64, f64)>,
    /// The fence of each group.
    pub(super) fences: Vec<Interval>,
    /// Number of rounds in which the groups were measured; 0 if unknown for some and not visible in
    /// the data.
    pub(super) rounds: usize,
    pub(super) curves: Vec<Curve>,
    pub(super) rtt: Linear,
}

impl FencedObservations {
    pub(super) fn of(observations: &[Observation]) -> Result<FencedObservations> {
        let known = observations.iter().all(|o| o.rounds.len() == o.batches.len());
        let all: BTreeSet<u64> = observations.iter().flat_map(|o| &o.rounds).copied().collect();
        let number: BTreeMap<u64, usize> = all.into_iter().zip(0..).collect();
        let mut points: BTreeMap<PointKey, Vec<(f64, usize)>> = BTreeMap::new();
        for observation in observations {
            let Observation { kind, messages, delay, ref batches, .. } = *observation;
            let bad = |value| {
                ModelError::Unusable(format!(
                    "a time of {value} ns for {kind} with {messages} messages and a delay of {delay} ns; \
                     times must be finite and not negative, and messages at least 1"
                ))
            };
            if !delay.is_finite() || delay < 0.0 || messages == 0 {
                return Err(bad(batches.first().copied().unwrap_or(0.0)));
            }
            if let Some(&value) = batches.iter().find(|b| !b.is_finite() || **b < 0.0) {
                return Err(bad(value));
            }
            let place = match kind {
                Phase::Issue => place(kind, delay, messages),
                Phase::Rtt => place(kind, 0.0, 1),
            };
            let point = points.entry(place).or_default();
            // If rounds are unknown, batches with the same number in their points may share a
            // round.
            let first = point.len();
            let round =
                |at: usize| if known { number[&observation.rounds[at]] } else { first + at };
            point.extend(batches.iter().enumerate().map(|(at, batch)| (*batch, round(at))));
        }
        let (mut groups, mut places, mut fences) = (Vec::new(), Vec::new(), Vec::new());
        let mut issue: BTreeMap<u64, Vec<(u64, usize)>> = BTreeMap::new();
        let mut rtt = None;
        for ((kind, delay, messages), batches) in points {
            if batches.len() < 2 {
                let (delay, found) = (Ns(f64::from_bits(delay)), batches.len());
                return Err(ModelError::Unusable(format!(
                    "{found} repetition of {kind} with {messages} messages and a delay of {delay}; at \
                     least 2 are needed for an interval"
                )));
            }
            let inside = fence(&batches.iter().map(|(batch, _)| *batch).collect::<Vec<f64>>());
            let kept = batches.into_iter().filter(|(batch, _)| inside.contains(*batch));
            let (batches, in_rounds): (Vec<f64>, Vec<usize>) = kept.unzip();
            let count = batches.len() as f64;
            match kind {
                Phase::Issue => issue.entry(delay).or_default().push((messages, groups.len())),
                Phase::Rtt => rtt = Some(groups.len()),
            }
            fences.push(inside);
            places.push((kind, messages, f64::from_bits(delay)));
            groups.push(Group {
                mean: mean(&batches),
                variance: variance(&batches) / count,
                rounds: in_rounds,
                batches,
            });
        }
        let rounds = if known { number.len() } else { shared_rounds(&groups) };
        let rtt = Linear::of([(rtt.ok_or(ModelError::NoRtt)?, 1.0)]);
        let curves: Vec<Curve> = issue
            .iter()
            .map(|(delay, points)| Curve::new(f64::from_bits(*delay), points, &groups))
            .collect();
        match curves.first() {
            Some(first) if first.delay == 0.0 => {
                Ok(FencedObservations { groups, places, fences, rounds, curves, rtt })
            }
            _ => Err(ModelError::NoZeroDelay),
        }
    }
}

/// The number of rounds, if batches with the same number deviate together from the means of their
/// points; 0 if they do not, beyond noise.
///
/// *Formula*: χ² = Σₖ(Σᵢ zᵢₖ)²/nₖ over the numbers k, where zᵢₖ is the deviation of batch k of
/// point i from its point's mean in standard deviations, and nₖ the number of points with a batch
/// k. It has K − 1 degrees of freedom if points are independent.
fn shared_rounds(groups: &[Group]) -> usize {
    let mut sums = BTreeMap::<usize, (f64, f64)>::new();
    for group in groups.iter().filter(|group| group.variance > 0.0) {
        let deviation = (group.variance * group.batches.len() as f64).sqrt();
        for (batch, round) in group.batches.iter().zip(&group.rounds) {
            let (sum, count) = sums.entry(*round).or_default();
            *sum += (batch - group.mean) / deviation;
            *count += 1.0;
        }
    }
    let squares = sums.values().map(|(sum, count)| sum * sum / count).sum();
    let scatter = Scatter { squares, degrees: sums.len().saturating_sub(1) as f64 };
    let most = groups.iter().flat_map(|group| &group.rounds).max().map_or(0, |last| last + 1);
    if scatter.is_beyond(OF_ALL) { most } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_the_mean_of_its_batches_and_the_variance_of_that() {
        let observed = |kind, messages, batches: &[f64]| {
            let (batches, rounds) = (batches.to_vec(), Vec::new());
            Observation { kind, messages, delay: 0.0, batches, rounds }
        };
        let observations = [
            observed(Phase::Issue, 1, &[8.0, 12.0]),
            observed(Phase::Issue, 2, &[18.0, 20.0, 22.0, 20.0]),
            observed(Phase::Rtt, 1, &[97.0, 100.0, 103.0]),
        ];
        let table = FencedObservations::of(&observations).unwrap();
        let found = |group: usize| (table.groups[group].mean, table.groups[group].variance);
        // s²/n: of 8 and 12, 8/2; of the next, (4 + 4)/3/4; of the round trips, 9/3.
        let points = table.curves[0].points.iter().map(|point| found(point.group));
        assert_eq!(points.collect::<Vec<_>>(), [(10.0, 4.0), (20.0, 8.0 / 3.0 / 4.0)]);
        let round_trip = (table.rtt.value(&table.groups), table.rtt.variance(&table.groups));
        assert_eq!(round_trip, (100.0, 3.0));
    }
}

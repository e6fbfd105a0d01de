//! Estimates with intervals, by bootstrap over rounds, or over batches if rounds are unknown.

use std::collections::BTreeSet;

use bandgap_stats::bootstrap;
use bandgap_stats::interval::Interval;
use bandgap_stats::rounds::{self, FEWEST_ROUNDS};

use super::{Estimate, Options};
use crate::linear::{Group, Linear};

/// Estimates combinations of the groups' means.
pub(super) struct Estimator<'a> {
    groups: &'a [Group],
    /// Whether whole rounds are drawn.
    by_rounds: bool,
    confidence: f64,
    /// The means of all groups in every resample.
    resamples: Vec<Vec<f64>>,
}

impl<'a> Estimator<'a> {
    /// Resamples the groups that occur in `used`; the others stay as they are. `rounds` is the
    /// number of rounds in which they were measured, if known: batches of a round share its drift.
    pub(super) fn of(
        groups: &'a [Group],
        rounds: usize,
        used: &[&Linear],
        options: &Options,
    ) -> Estimator<'a> {
        let chosen: BTreeSet<usize> = used.iter().flat_map(|terms| terms.groups()).collect();
        let whole = |chosen_means: Vec<f64>| {
            let mut means: Vec<f64> = groups.iter().map(|group| group.mean).collect();
            for (group, mean) in chosen.iter().zip(chosen_means) {
                means[*group] = mean;
            }
            means
        };
        let by_rounds = rounds >= FEWEST_ROUNDS;
        let Options { confidence, resamples, seed, .. } = *options;
        let resamples = if by_rounds {
            let of: Vec<_> = chosen.iter().map(|&g| groups[g].clustered()).collect();
            bootstrap::clustered_means(&of, rounds, resamples, seed)
        } else {
            let of: Vec<&[f64]> = chosen.iter().map(|&g| groups[g].batches.as_slice()).collect();
            bootstrap::group_means(&of, resamples, seed)
        };
        let resamples = resamples.into_iter().map(whole).collect();
        Estimator { groups, by_rounds, confidence, resamples }
    }

    pub(super) fn value(&self, terms: &Linear) -> f64 {
        terms.value(self.groups)
    }

    /// The value in every resample.
    pub(super) fn replicates(&self, terms: &Linear) -> impl Iterator<Item = f64> {
        self.resamples.iter().map(|means| terms.at(|group| means[group]))
    }

    pub(super) fn estimate(&self, terms: &Linear, estimator: &'static str) -> Estimate {
        let replicates: Vec<f64> = self.replicates(terms).collect();
        self.bounded(self.value(terms), &replicates, terms, estimator)
    }

    /// An estimate from its replicates, with an interval that includes it; `terms` are the data
    /// behind it.
    pub(super) fn bounded(
        &self,
        value: f64,
        replicates: &[f64],
        terms: &Linear,
        estimator: &'static str,
    ) -> Estimate {
        let (degrees, stretch) = match self.by_rounds {
            true => {
                let pulls = terms.pulls(self.groups);
                (terms.degrees_of_rounds(self.groups), rounds::stretch([&pulls[..]]))
            }
            false => (terms.degrees(self.groups), 1.0),
        };
        let interval = bootstrap::interval(value, replicates, degrees, self.confidence);
        // If resamples choose other points, all replicates may lie on one side.
        let interval = Interval { low: interval.low.min(value), high: interval.high.max(value) };
        let stretched = |end: f64| value + stretch * (end - value);
        let rounded = |number| terms.rounded(number, self.groups);
        let ends = [value, stretched(interval.low), stretched(interval.high)];
        let [value, low, high] = ends.map(rounded);
        Estimate { value, low, high, samples: terms.samples(self.groups), estimator }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Linear;

    #[test]
    fn an_interval_holds_its_estimate_wherever_the_resamples_lie() {
        let batches = vec![1.0, 2.0, 3.0];
        let groups = [Group { batches, rounds: vec![0, 1, 2], mean: 2.0, variance: 1.0 / 3.0 }];
        let terms = Linear::of([(0, 1.0)]);
        let estimator = Estimator::of(&groups, 1, &[&terms], &Options::default());
        let ends = |replicates: [f64; 3]| {
            let found = estimator.bounded(2.0, &replicates, &terms, "");
            (found.low, found.high)
        };
        let (low, high) = ends([5.0, 6.0, 7.0]);
        assert!(low == 2.0 && high > 5.0, "{low} {high}");
        let (low, high) = ends([-5.0, -6.0, -7.0]);
        assert!(low < -5.0 && high == 2.0, "{low} {high}");
    }

    #[test]
    fn successive_rounds_that_are_alike_widen_an_estimate() {
        let width = |batches: [f64; 8]| {
            let group = Group {
                batches: batches.to_vec(),
                rounds: (0..8).collect(),
                mean: 10.0,
                variance: 8.0 / 7.0 / 8.0,
            };
            let (groups, terms) = ([group], Linear::of([(0, 1.0)]));
            let options = Options { resamples: 4000, ..Options::default() };
            let estimator = Estimator::of(&groups, 8, &[&terms], &options);
            let found = estimator.estimate(&terms, "");
            assert!((found.value - 10.0).abs() < 1e-12);
            found.high - found.low
        };
        // Pulls that change sign from round to round, and pulls that keep it for four: r₁ is 5/8 there, and
        // the widening is the greatest, √2.
        let apart = width([9.0, 11.0, 9.0, 11.0, 9.0, 11.0, 9.0, 11.0]);
        let alike = width([9.0, 9.0, 9.0, 9.0, 11.0, 11.0, 11.0, 11.0]);
        assert!((alike / apart / 2.0_f64.sqrt() - 1.0).abs() < 0.05, "{alike} / {apart}");
    }
}

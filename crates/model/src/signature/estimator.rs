//! Estimates with intervals, by bootstrap over batches.

use std::collections::BTreeSet;

use bandgap_stats::bootstrap;

use super::{Estimate, Options};
use crate::linear::{Group, Linear};

/// Estimates combinations of the groups' means.
pub(super) struct Estimator<'a> {
    groups: &'a [Group],
    confidence: f64,
    /// The means of all groups in every resample.
    resamples: Vec<Vec<f64>>,
}

impl<'a> Estimator<'a> {
    /// Resamples the groups that count in what is `used`; the others stay as they are.
    pub(super) fn of(groups: &'a [Group], used: &[&Linear], options: &Options) -> Estimator<'a> {
        let chosen: BTreeSet<usize> = used.iter().flat_map(|terms| terms.groups()).collect();
        let batches: Vec<&[f64]> = chosen.iter().map(|&g| groups[g].batches.as_slice()).collect();
        let whole = |chosen_means: Vec<f64>| {
            let mut means: Vec<f64> = groups.iter().map(|group| group.mean).collect();
            for (group, mean) in chosen.iter().zip(chosen_means) {
                means[*group] = mean;
            }
            means
        };
        let resamples = bootstrap::group_means(&batches, options.resamples, options.seed);
        let resamples = resamples.into_iter().map(whole).collect();
        Estimator { groups, confidence: options.confidence, resamples }
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

    /// An estimate from its replicates; `terms` are the data behind it.
    pub(super) fn bounded(
        &self,
        value: f64,
        replicates: &[f64],
        terms: &Linear,
        estimator: &'static str,
    ) -> Estimate {
        let degrees = terms.degrees(self.groups);
        let interval = bootstrap::interval(value, replicates, degrees, self.confidence);
        let rounded = |number| terms.rounded(number, self.groups);
        let [value, low, high] = [value, interval.low, interval.high].map(rounded);
        Estimate { value, low, high, samples: terms.samples(self.groups), estimator }
    }
}

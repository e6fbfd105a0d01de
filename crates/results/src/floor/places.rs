//! What a floor takes at each of its places in memory.

use std::collections::BTreeMap;

use bandgap_campaign::data::Batch;
use bandgap_record::Seconds;
use bandgap_stats::quantile::{median, quantile_sorted, sorted};
use bandgap_units::Ns;
use serde::{Deserialize, Serialize};

/// The times of a floor at its places in memory: the distribution of their medians.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Places {
    /// How many there are; those of each launch are its own.
    pub number: u64,
    /// The time at the fastest.
    pub min: Seconds,
    /// The time that a tenth of them do not reach.
    pub p10: Seconds,
    /// The time at the median place.
    pub median: Seconds,
    /// The time that a tenth of them exceed.
    pub p90: Seconds,
    /// The time at the slowest.
    pub max: Seconds,
}

impl Places {
    /// From batches whose samples, in nanoseconds, are each at the next of so many places; `None` where all are at the
    /// same, or no batch has a sample of each.
    pub(super) fn of(places: u32, batches: &[&Batch]) -> Option<Self> {
        if places < 2 {
            return None;
        }
        let mut times = BTreeMap::<(u32, usize), Vec<f64>>::new();
        for batch in batches.iter().filter(|batch| batch.samples.len() == places as usize) {
            for (place, &time) in batch.samples.iter().enumerate() {
                times.entry((batch.launch, place)).or_default().push(time);
            }
        }
        let medians = sorted(&times.values().map(|of| median(of)).collect::<Vec<_>>());
        let at = |share| Seconds::from(Ns(quantile_sorted(&medians, share)));
        (!medians.is_empty()).then(|| Self {
            number: medians.len() as u64,
            min: at(0.0),
            p10: at(0.1),
            median: at(0.5),
            p90: at(0.9),
            max: at(1.0),
        })
    }

    /// The distribution in words.
    pub(super) fn line(&self, floor: &str) -> String {
        let [min, p10, median, p90, max] =
            [self.min, self.p10, self.median, self.p90, self.max].map(Seconds::ns);
        format!(
            "{floor} at {} places in memory: {min} to {max}, median {median}; 80 % of the places {p10} to {p90}.",
            self.number
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(launch: u32, samples: &[f64]) -> Batch {
        Batch { launch, samples: samples.to_vec(), ..Batch::default() }
    }

    #[test]
    fn each_place_counts_once_by_its_median_over_batches() {
        // Place i of eleven takes i, and in one of three batches something disturbed all of them.
        let times: Vec<f64> = (0..11).map(f64::from).collect();
        let (quiet, disturbed) = (batch(0, &times), batch(0, &[900.0; 11]));
        // A batch that lacks places does not say which it has.
        let short = batch(0, &[5000.0; 10]);
        let found = Places::of(11, &[&quiet, &disturbed, &quiet, &short]).unwrap();
        let ns = [found.min, found.p10, found.median, found.p90, found.max].map(|at| at.ns().0);
        for (found, expected) in ns.into_iter().zip([0.0, 1.0, 5.0, 9.0, 10.0]) {
            assert!((found - expected).abs() < 1e-9, "{ns:?}");
        }
        assert_eq!(found.number, 11);
        // Another launch has other memory.
        let other = batch(1, &[20.0; 11]);
        let both = Places::of(11, &[&quiet, &other]).unwrap();
        assert_eq!((both.number, both.max.ns()), (22, Ns(20.0)));
    }

    #[test]
    fn without_places_there_is_no_distribution() {
        let one = batch(0, &[1.0]);
        assert_eq!(Places::of(1, &[&one]), None);
        assert_eq!(Places::of(2, &[&one]), None);
        assert_eq!(Places::of(2, &[]), None);
    }
}

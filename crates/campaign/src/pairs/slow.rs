//! Which pairs are slower than the others.

use std::collections::BTreeMap;

use bandgap_stats::quantile::mean;
use serde::{Deserialize, Serialize};

use super::{AT_ONCE, HOPS, PAIR_RTT};
use crate::judge::{Judged, pair_of};

/// How far a pair may be from the best one of its distance.
///
/// *Source*: the default tolerances of NVIDIA's `ClusterKit`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// The greatest round trip, in multiples of the least.
    pub latency: f64,
    /// The least bandwidth, as a share of the greatest.
    pub bandwidth: f64,
}

/// What a pair took at best in one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The ranks.
    pub pair: [u64; 2],
    /// The name of its key: what was timed.
    pub what: String,
    /// The number of pairs at work at the same time.
    pub at_once: u64,
    /// The launch.
    pub launch: u32,
    /// The distance of the ranks. Only pairs of one distance are compared.
    pub distance: u64,
    /// The least mean over the samples of a batch, in nanoseconds: what holds up one batch is no fault
    /// of the pair. Lost messages are, and they are in every mean.
    pub best: f64,
}

impl Seen {
    /// What the pairs took at best; no pairs within one of the hosts.
    pub fn all(judged: &Judged<'_>, hosts: &[String]) -> Vec<Self> {
        let mut found = Vec::<Self>::new();
        for (key, batches) in judged.table.iter() {
            let Some(pair) = pair_of(key) else { continue };
            let [a, b] = pair.map(|rank| hosts.get(rank as usize));
            let is_one = a.is_none() || a != b;
            let mut best = BTreeMap::<u32, Vec<f64>>::new();
            for batch in batches.iter().filter(|batch| is_one && judged.counts(key, batch)) {
                best.entry(batch.launch).or_default().push(mean(&batch.samples));
            }
            let at = |axis: &str, usual: u64| key.number(axis).unwrap_or(usual);
            let (at_once, distance, what) = (at(AT_ONCE, 1), at(HOPS, 0), key.what());
            // A single batch proves nothing.
            best.retain(|_, all| at_once > 1 || all.len() > 1);
            let seen = |(launch, all): (u32, Vec<f64>)| {
                let best = all.into_iter().fold(f64::INFINITY, f64::min);
                Self { pair, what: what.to_owned(), at_once, launch, distance, best }
            };
            found.extend(best.into_iter().map(seen));
        }
        found
    }
}

impl Tolerance {
    /// The pairs outside. Of each pair those times count that were measured with the fewest others at
    /// work. Each is compared with the least of its launch and distance that was measured with as many
    /// at work or more. A pair that is inside in any launch is cleared.
    pub fn outside<'a>(&self, all: &'a [Seen]) -> Vec<&'a Seen> {
        let mut least = BTreeMap::<(&str, u32, u64, u64), f64>::new();
        let mut pairs = BTreeMap::<(&str, [u64; 2]), Vec<&Seen>>::new();
        for seen in all {
            let at = (&*seen.what, seen.launch, seen.distance, seen.at_once);
            let own = least.entry(at).or_insert(seen.best);
            *own = own.min(seen.best);
            pairs.entry((&seen.what, seen.pair)).or_default().push(seen);
        }
        for own in pairs.values_mut() {
            let fewest = own.iter().map(|seen| seen.at_once).min();
            own.retain(|seen| Some(seen.at_once) == fewest);
        }
        let is_outside = |Seen { what, launch, distance, at_once, best, .. }: &Seen| {
            let at = |at_once: u64| (&**what, *launch, *distance, at_once);
            let most = if what == PAIR_RTT { self.latency } else { 1.0 / self.bandwidth };
            least.range(at(*at_once)..=at(u64::MAX)).any(|(_, least)| *best > least * most)
        };
        let outside = pairs.into_values().filter(|own| own.iter().all(|seen| is_outside(seen)));
        outside.map(|own| own[0]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::PAIR_TIME;

    #[test]
    fn pairs_are_compared_within_a_launch_and_a_distance_by_their_least_company() {
        let seen = |what: &str, pair, [at_once, launch, distance]: [u64; 3], best| {
            let (what, launch) = (what.to_owned(), launch as u32);
            Seen { pair, what, at_once, launch, distance, best }
        };
        let rtt = |pair, at, best| seen(PAIR_RTT, pair, at, best);
        let mut all = vec![
            rtt([0, 1], [2, 0, 1], 10.0),
            rtt([2, 3], [2, 0, 1], 21.0),
            rtt([1, 2], [2, 0, 1], 21.5),
            rtt([0, 2], [2, 0, 2], 90.0),
            rtt([1, 3], [2, 1, 1], 90.0),
            // 93 % of 10 B/ns are reached in 10.75 ns.
            seen(PAIR_TIME, [0, 1], [2, 0, 1], 10.0),
            seen(PAIR_TIME, [0, 2], [2, 0, 1], 10.7),
            seen(PAIR_TIME, [0, 3], [2, 0, 1], 10.8),
        ];
        let outside = |all: &[Seen]| -> Vec<([u64; 2], u64)> {
            let tolerance = Tolerance { latency: 2.1, bandwidth: 0.93 };
            tolerance.outside(all).into_iter().map(|of| (of.pair, of.at_once)).collect()
        };
        assert_eq!(outside(&all), [([1, 2], 2), ([0, 3], 2)]);
        // Alone one is still slow, beside what the others took at work; the other one is not.
        all.extend([rtt([1, 2], [1, 0, 1], 21.2), seen(PAIR_TIME, [0, 3], [1, 0, 1], 9.0)]);
        assert_eq!(outside(&all), [([1, 2], 1)]);
        // Another launch clears it.
        all.extend([rtt([1, 2], [1, 1, 1], 20.0), rtt([0, 1], [1, 1, 1], 11.0)]);
        assert_eq!(outside(&all), []);
    }
}

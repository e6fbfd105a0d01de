//! Checks the input and puts it in order.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use bandgap_stats::Interval;
use bandgap_stats::outlier::inside_fence;
use bandgap_stats::quantile::{mean, variance};
use bandgap_stats::segmented::{Cuts, Limits};

use super::FEWEST_SIZES;
use crate::error::{ModelError, Result};

/// Repeated times of messages of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct SizedTimes {
    /// Message length.
    pub bytes: u64,
    /// Times in nanoseconds, one per repetition.
    pub times_ns: Vec<f64>,
}

/// Gathers (bytes, nanoseconds) by size, ascending.
pub fn sized_times_from_pairs(pairs: impl IntoIterator<Item = (u64, f64)>) -> Vec<SizedTimes> {
    let mut sizes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (bytes, time) in pairs {
        sizes.entry(bytes).or_default().push(time);
    }
    sizes.into_iter().map(|(bytes, times_ns)| SizedTimes { bytes, times_ns }).collect()
}

/// Accepted times in nanoseconds; their squares and reciprocals stay finite.
const TIMES: RangeInclusive<f64> = 1e-12..=1e18;

/// No clock resolves a relative difference smaller than this.
const LEAST_NOISE: f64 = 1e-6;

/// Fewest repetitions, besides the first of each size, from which to estimate the noise.
const FEWEST_REPEATS: usize = 10;

/// The checked sizes, ascending, each once.
#[derive(Clone)]
pub(super) struct SizeSamples {
    pub(super) bytes: Vec<u64>,
    /// The sizes as floating-point numbers.
    pub(super) x: Vec<f64>,
    /// Mean times in nanoseconds.
    pub(super) times: Vec<f64>,
    /// Possible values of each rounded time.
    pub(super) ranges: Vec<Interval>,
    /// Least relative noise of each time.
    pub(super) noise: Vec<f64>,
}

impl SizeSamples {
    /// The sizes of one launch, except those left out.
    pub(super) fn of(
        data: &[SizedTimes],
        rounding: &BTreeMap<u64, [f64; 2]>,
        left_out: &[u64],
    ) -> Result<SizeSamples> {
        if let Some(empty) = data.iter().find(|sized| sized.times_ns.is_empty()) {
            return Err(ModelError::no_times(empty.bytes));
        }
        let pairs = data.iter().flat_map(|s| s.times_ns.iter().map(|&time| (s.bytes, time)));
        for (bytes, value) in pairs.clone() {
            if !TIMES.contains(&value) {
                return Err(ModelError::BadTime(bytes, value));
            }
        }
        let sizes = sized_times_from_pairs(pairs.filter(|(bytes, _)| !left_out.contains(bytes)));
        let kept: Vec<Vec<f64>> = sizes.iter().map(|sized| inside_fence(&sized.times_ns)).collect();
        let bytes: Vec<u64> = sizes.iter().map(|sized| sized.bytes).collect();
        let times: Vec<f64> = kept.iter().map(|times| mean(times)).collect();
        let range = |(bytes, time): (&u64, &f64)| {
            let [below, above] = rounding.get(bytes).copied().unwrap_or_default();
            Interval { low: time - below, high: time + above }
        };
        let ranges: Vec<Interval> = bytes.iter().zip(&times).map(range).collect();
        let means = noise_of_means(&kept);
        // A uniform distribution of half-width h has the standard deviation h/√3.
        let rounding = ranges
            .iter()
            .zip(&times)
            .map(|(range, time)| range.half_width() / (3f64.sqrt() * time));
        Ok(SizeSamples {
            x: bytes.iter().map(|&bytes| bytes as f64).collect(),
            bytes,
            noise: rounding.map(|rounding| rounding.hypot(means)).collect(),
            times,
            ranges,
        })
    }

    /// Constraints on a search for segments.
    pub(super) fn limits<'a>(&'a self, cuts: Cuts<'a>) -> Limits<'a> {
        Limits { fewest: FEWEST_SIZES, cuts, noise: &self.noise, ranges: &self.ranges }
    }

    /// Joins launches into one table: for each size, the mean of the launches that have it, equally
    /// weighted. The noise is that within launches, since an offset of a launch common to all sizes
    /// is not a bend.
    ///
    /// # Errors
    /// [`ModelError::TooFewSizes`] for fewer than three sizes.
    pub(super) fn joined(launches: &[SizeSamples]) -> Result<SizeSamples> {
        let mut bytes: Vec<u64> = launches.iter().flat_map(|of| of.bytes.iter().copied()).collect();
        bytes.sort_unstable();
        bytes.dedup();
        if bytes.len() < 3 {
            return Err(ModelError::TooFewSizes(bytes.len()));
        }
        if let [one] = launches {
            return Ok(one.clone());
        }
        let x = bytes.iter().map(|&bytes| bytes as f64).collect();
        let mut all =
            SizeSamples { bytes, x, times: Vec::new(), ranges: Vec::new(), noise: Vec::new() };
        for size in &all.bytes {
            let with = |launch: &'_ SizeSamples| {
                let at = launch.bytes.binary_search(size).ok()?;
                let Interval { low, high } = launch.ranges[at];
                Some([launch.times[at], launch.noise[at], low, high])
            };
            let of: Vec<[f64; 4]> = launches.iter().filter_map(with).collect();
            let column = |at: usize| of.iter().map(|row| row[at]).collect::<Vec<f64>>();
            let noise = column(1).iter().map(|noise| noise * noise).sum::<f64>().sqrt();
            all.times.push(mean(&column(0)));
            all.ranges.push(Interval { low: mean(&column(2)), high: mean(&column(3)) });
            all.noise.push(noise / of.len() as f64);
        }
        Ok(all)
    }
}

/// Relative standard deviation of the mean of a size, pooled over all sizes.
fn noise_of_means(sizes: &[Vec<f64>]) -> f64 {
    let repeats: usize = sizes.iter().map(|times| times.len() - 1).sum();
    if repeats < FEWEST_REPEATS {
        return LEAST_NOISE;
    }
    let squares: f64 = sizes
        .iter()
        .filter(|times| times.len() > 1)
        .map(|times| (times.len() - 1) as f64 * variance(times) / mean(times).powi(2))
        .sum();
    let share = sizes.iter().map(|times| 1.0 / times.len() as f64).sum::<f64>();
    (squares / repeats as f64 * share / sizes.len() as f64).sqrt().max(LEAST_NOISE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_step_is_noise_as_of_a_uniform_distribution() {
        let sizes = sized_times_from_pairs([(8, 100.0), (16, 50.0)]);
        let table = SizeSamples::of(&sizes, &BTreeMap::from([(8, [3.0, 3.0])]), &[]).unwrap();
        // 3 ns/√3 of 100 ns, beside which the least noise is nothing.
        assert!((table.noise[0] / (3.0 / 3f64.sqrt() / 100.0) - 1.0).abs() < 1e-6);
        let widths: Vec<f64> = table.ranges.iter().map(Interval::half_width).collect();
        assert_eq!((table.noise[1], &widths[..]), (LEAST_NOISE, &[3.0, 0.0][..]));
    }
}

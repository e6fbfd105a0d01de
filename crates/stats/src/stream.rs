//! Statistics of a stream: mean, interval and quantiles in constant memory.

use hdrhistogram::Histogram;

use crate::interval::{Interval, t_interval};
use crate::quantile::{mean, variance};

/// Maximum number of batches kept. Half of them give enough degrees of freedom: Student's factor is
/// 2.04 for 31 and 1.98 for 127; the normal distribution's is 1.96.
const BATCHES: usize = 128;

/// Significant digits of the quantiles.
const DIGITS: u8 = 4;

/// Statistics of non-negative integer samples that are not stored one by one.
///
/// *Mean*: exact, Σx/n.
///
/// *Interval of the mean*: batch means. Successive samples form a batch. When 128 batches are full,
/// neighbours are merged in pairs, and later batches are twice as long: so there are 64 to 127
/// batches, each as long as the stream allows. Correlation between neighbouring samples then lies
/// within batches, not between them. The interval is Student's, from the means of the full batches.
///
/// *Quantiles*: from a histogram with bins at most 10⁻⁴ of their values wide; the result is the
/// middle of the bin, limited to the range of the samples. Minimum and maximum are exact.
///
/// *Assumes* that batches are independent and alike.
/// *Source*: batch means as in Law and Kelton, "Simulation Modeling and Analysis" (2000), section 9.5.3;
/// the histogram is G. Tene's HdrHistogram.
#[derive(Clone, Debug)]
pub struct Stream {
    histogram: Histogram<u64>,
    sum: u128,
    /// The smallest and the largest sample.
    ends: (u64, u64),
    /// Sums of the full batches.
    batches: Vec<f64>,
    /// Samples in a full batch.
    length: u64,
    /// Sum and number of samples of the current batch.
    open: (f64, u64),
}

impl Default for Stream {
    fn default() -> Stream {
        let histogram = Histogram::new(DIGITS).expect("up to five digits are possible");
        Stream {
            histogram,
            sum: 0,
            ends: (u64::MAX, 0),
            batches: Vec::with_capacity(BATCHES),
            length: 1,
            open: (0.0, 0),
        }
    }
}

impl Stream {
    /// Adds a sample. Values above 2⁶² count as 2⁶².
    pub fn add(&mut self, value: u64) {
        let value = value.min(1 << 62);
        // The histogram grows as needed.
        let recorded = self.histogram.record(value);
        debug_assert!(recorded.is_ok(), "every value has a bin");
        self.sum += u128::from(value);
        self.ends = (self.ends.0.min(value), self.ends.1.max(value));
        self.open.0 += value as f64;
        self.open.1 += 1;
        if self.open.1 < self.length {
            return;
        }
        self.batches.push(self.open.0);
        self.open = (0.0, 0);
        if self.batches.len() == BATCHES {
            for pair in 0..BATCHES / 2 {
                self.batches[pair] = self.batches[2 * pair] + self.batches[2 * pair + 1];
            }
            self.batches.truncate(BATCHES / 2);
            self.length *= 2;
        }
    }

    /// Samples so far.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Number of full batches behind the interval of the mean.
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The mean; `None` without samples.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The interval of the mean; `None` for fewer than two samples.
    ///
    /// # Panics
    /// If the confidence is not strictly between 0 and 1.
    pub fn mean_interval(&self, confidence: f64) -> Option<Interval> {
        let count = self.batches.len();
        if count < 2 {
            return None;
        }
        let means: Vec<f64> = self.batches.iter().map(|sum| sum / self.length as f64).collect();
        let error = variance(&means) / count as f64;
        // The mean of all samples, including the last few outside full batches.
        let centre = self.mean().unwrap_or_else(|| mean(&means));
        Some(t_interval(centre, error, count as f64 - 1.0, confidence))
    }

    /// The quantile at probability `p`: the least value that at least this share of the samples
    /// does not exceed. `None` without samples.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        (self.count() > 0).then(|| self.middle(self.histogram.value_at_quantile(p)))
    }

    /// The smallest sample; `None` without samples.
    pub fn min(&self) -> Option<f64> {
        (self.count() > 0).then_some(self.ends.0 as f64)
    }

    /// The largest sample; `None` without samples.
    pub fn max(&self) -> Option<f64> {
        (self.count() > 0).then_some(self.ends.1 as f64)
    }

    /// The middle of a value's bin, limited to the range of the samples.
    fn middle(&self, value: u64) -> f64 {
        let middle = self.histogram.lowest_equivalent(value) as f64 / 2.0
            + self.histogram.highest_equivalent(value) as f64 / 2.0;
        middle.max(self.ends.0 as f64).min(self.ends.1 as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::interval::mean_interval;
    use crate::quantile::quantile;

    fn of(samples: &[u64]) -> Stream {
        let mut stream = Stream::default();
        samples.iter().for_each(|sample| stream.add(*sample));
        stream
    }

    #[test]
    fn few_samples_are_batches_of_one() {
        let samples: Vec<u64> = (0..100).map(|at| 1000 + 37 * at % 91).collect();
        let plain: Vec<f64> = samples.iter().map(|sample| *sample as f64).collect();
        let (stream, exact) = (of(&samples), mean_interval(&plain, 0.95).unwrap());
        let found = stream.mean_interval(0.95).unwrap();
        assert!((found.low - exact.low).abs() < 1e-9 && (found.high - exact.high).abs() < 1e-9);
        assert_eq!((stream.batches(), stream.count()), (100, 100));
    }

    #[test]
    fn batches_grow_and_their_number_does_not() {
        let mut stream = Stream::default();
        for at in 0..1_000_000_u64 {
            stream.add(at);
        }
        // 2^13 = 8192 samples each: 122 of them are full.
        assert_eq!((stream.batches(), stream.length), (122, 8192));
        assert_eq!(stream.mean(), Some(499_999.5));
        assert_eq!((stream.min(), stream.max()), (Some(0.0), Some(999_999.0)));
    }

    /// Samples that resemble their neighbours: x ← 0.95·x + noise. The deviation of their mean is
    /// √((1 + 0.95)/(1 − 0.95)) = 6.2 times that of independent ones.
    #[test]
    fn the_interval_covers_the_mean_of_samples_that_hang_together() {
        let covered = (0..400)
            .filter(|seed| {
                let mut generator = Xoshiro256PlusPlus::seed_from_u64(*seed);
                let normal = Normal::new(0.0, 30.0).unwrap();
                let (mut stream, mut state) = (Stream::default(), 0.0_f64);
                for _ in 0..20_000 {
                    state = 0.95 * state + normal.sample(&mut generator);
                    stream.add((10_000.0 + state).round() as u64);
                }
                stream.mean_interval(0.95).unwrap().contains(10_000.0)
            })
            .count();
        // Of 400 the share's deviation is 1.1 %. As if independent, 25 % of the intervals would hold it.
        assert!((364..=396).contains(&covered), "{covered} of 400");
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_samples(
            samples in prop::collection::vec(0..1u64 << 50, 6..400), p in 0.0..=1.0f64,
        ) {
            let stream = of(&samples);
            let plain: Vec<f64> = samples.iter().map(|sample| *sample as f64).collect();
            // Between the two order statistics beside it, within the bin's width.
            let step = 1.0 / (plain.len() as f64 - 1.0);
            let low = quantile(&plain, (p - step).max(0.0)) * (1.0 - 2e-4);
            let high = quantile(&plain, (p + step).min(1.0)) * (1.0 + 2e-4);
            let found = stream.quantile(p).unwrap();
            prop_assert!((low..=high).contains(&found), "{found} is not in {low}..={high}");
        }

        #[test]
        fn no_samples_panic(samples: Vec<u64>) {
            let stream = of(&samples);
            let _ = (stream.mean(), stream.mean_interval(0.95), stream.quantile(0.5));
            prop_assert_eq!(stream.count(), samples.len() as u64);
        }
    }

    #[test]
    fn quantiles_hold_what_all_samples_are() {
        // Bins are 32 wide here, and no sample is in the middle of one.
        let alike = of(&[900_000; 500]);
        for found in [alike.min(), alike.quantile(0.5), alike.quantile(0.999), alike.max()] {
            assert_eq!(found, Some(900_000.0));
        }
    }
}

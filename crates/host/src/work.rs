//! The time that rounds of arithmetic take, which is the time of [`Timer::work`].

use bandgap_stats::quantile::median;
use bandgap_units::Ns;
use bandgap_units::{Delay, Timer};
use serde::{Deserialize, Serialize};

use crate::CycleClock;

/// The time of [`Timer::work`]: offset + per_iteration · iterations, for iterations above zero.
///
/// *Units*: nanoseconds. *Assumes* a constant processor frequency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkRate {
    /// Time of a call apart from its rounds.
    pub offset: Ns,
    /// Time of a round.
    pub per_iteration: Ns,
    /// Largest deviation of a calibration point from the line, as a share of the point.
    pub worst_residual: f64,
}

/// Rounds of the calibration points: from about 10 ns to about 10 µs.
const COUNTS: [u32; 11] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
/// Rounds between two stamps at every point, about 20 µs: the clock's step is negligible.
const ROUNDS: u32 = 16_384;
/// Number of passes over all points. The points take turns, so that a disturbance affects all of
/// them alike.
const PASSES: usize = 15;

impl WorkRate {
    /// Times calls with more and more rounds, and fits a line; takes about 5 ms. The median at each
    /// point discards interrupted samples, and the median of slopes a point that was disturbed as a
    /// whole.
    pub fn calibrate(clock: &CycleClock) -> Self {
        let mut samples = COUNTS.map(|_| Vec::with_capacity(PASSES));
        // Warms up the processor: its frequency rises under load.
        clock.work(ROUNDS * 32);
        for _ in 0..PASSES {
            for (samples, count) in samples.iter_mut().zip(COUNTS) {
                let calls = ROUNDS / count;
                let begin = clock.stamp();
                for _ in 0..calls {
                    clock.work(count);
                }
                let elapsed = clock.between(begin.ticks(), clock.stamp().ticks());
                samples.push(elapsed.0 / f64::from(calls));
            }
        }
        let times = samples.map(|of_count| median(&of_count));
        Self::fit(&std::array::from_fn::<_, { COUNTS.len() }, _>(|i| (COUNTS[i], times[i])))
    }

    /// The line through (rounds, ns).
    ///
    /// *Formula*: per_iteration is the median slope over all pairs of points that are at least a
    /// factor of 8 apart (Theil and Sen, without the short baselines). offset is the median of
    /// t − per_iteration · n over the smaller half of the counts, where the noise of long times
    /// does not hide it; it is never below zero.
    fn fit(points: &[(u32, f64)]) -> Self {
        let mut slopes = Vec::new();
        for (i, (few, short)) in points.iter().enumerate() {
            for (many, long) in &points[i + 1..] {
                if *many >= few.saturating_mul(8) {
                    slopes.push((long - short) / f64::from(many - few));
                }
            }
        }
        // Even with a clock that stood still the rate must not be zero: it is a divisor.
        let slope = median(&slopes).max(1e-3);
        let rest = |&(count, time): &(u32, f64)| time - slope * f64::from(count);
        let rests: Vec<f64> = points[..points.len() / 2].iter().map(rest).collect();
        let offset = median(&rests).max(0.0);
        let residual = |point: &(u32, f64)| (rest(point) - offset).abs() / point.1.max(1e-3);
        Self {
            offset: Ns(offset),
            per_iteration: Ns(slope),
            worst_residual: points.iter().map(residual).fold(0.0, f64::max),
        }
    }

    /// The time of this many rounds.
    pub fn time(&self, iterations: u32) -> Ns {
        match iterations {
            0 => Ns(0.0),
            _ => Ns(self.offset.0 + self.per_iteration.0 * f64::from(iterations)),
        }
    }

    /// The number of rounds whose time is nearest to `time`, with the time that they take. No
    /// rounds for a time that is nearer to zero than to one round, and for NaN.
    pub fn delay(&self, time: Ns) -> Delay {
        let rounds = ((time.0 - self.offset.0) / self.per_iteration.0).round().max(1.0);
        // A float outside the integer's range saturates.
        let iterations = rounds as u32;
        if time.0.is_nan() || time.0 <= self.time(1).0 / 2.0 {
            return Delay::NONE;
        }
        Delay { iterations, picoseconds: (self.time(iterations).0 * 1000.0).round() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(offset: f64, slope: f64) -> Vec<(u32, f64)> {
        COUNTS.map(|count| (count, offset + slope * f64::from(count))).to_vec()
    }

    proptest! {
        #[test]
        fn a_line_with_one_spoilt_point_comes_back(
            offset in 0.0_f64..20.0, slope in 0.3_f64..4.0, spoilt in 0_usize..11,
        ) {
            let mut points = line(offset, slope);
            points[spoilt].1 *= 3.0;
            let rate = WorkRate::fit(&points);
            // The median over pairs, at most a third of which hold the spoilt point, stays exact
            // but for rounding.
            prop_assert!((rate.per_iteration.0 / slope - 1.0).abs() < 1e-9, "{rate:?}");
            prop_assert!((rate.offset.0 - offset).abs() < 1e-6, "{rate:?}");
            prop_assert!(rate.worst_residual > 0.5, "{rate:?}");
        }

        #[test]
        fn a_delay_is_the_nearest_possible_time(ns in 0.0_f64..1e6) {
            let rate = WorkRate::fit(&line(2.0, 1.5));
            let delay = rate.delay(Ns(ns));
            let off = |iterations| (rate.time(iterations).0 - ns).abs();
            prop_assert!(off(delay.iterations) <= off(delay.iterations + 1) + 1e-9);
            prop_assert!(off(delay.iterations) <= off(delay.iterations.saturating_sub(1)) + 1e-9);
            let told = delay.picoseconds as f64 / 1000.0;
            prop_assert!((told - rate.time(delay.iterations).0).abs() <= 5e-4);
        }
    }

    #[test]
    fn delays_at_the_edges() {
        // offset 2, 1.5 a round: one round takes 3.5 ns, so below 1.75 ns nothing is nearer.
        let rate = WorkRate::fit(&line(2.0, 1.5));
        assert_eq!(rate.delay(Ns(0.0)), Delay::NONE);
        assert_eq!(rate.delay(Ns(1.7)), Delay::NONE);
        assert_eq!(rate.delay(Ns(1.8)).iterations, 1);
        assert_eq!(rate.delay(Ns(32.0)), Delay { iterations: 20, picoseconds: 32_000 });
        assert_eq!(rate.delay(Ns(f64::NAN)), Delay::NONE);
        assert_eq!(rate.delay(Ns(-5.0)), Delay::NONE);
        assert_eq!(rate.delay(Ns(1e300)).iterations, u32::MAX);
    }

    #[test]
    fn this_machine_calibrates_to_something_usable() {
        let rate = WorkRate::calibrate(&CycleClock::calibrate());
        assert!(rate.per_iteration.0 > 0.0 && rate.offset.0 >= 0.0, "{rate:?}");
        assert!(rate.delay(Ns(1000.0)).iterations > 0);
    }
}

//! A fence around the bulk of the samples.
//!
//! An interrupt makes one sample ten times longer, which moves the mean of a batch of 50 by a
//! fifth. The fence excludes such samples; it does not trim the ordinary spread.

use crate::interval::Interval;
use crate::quantile::{mean, quantile_sorted, sorted};

/// Converts the median absolute deviation of a normal distribution to its standard deviation:
/// 1/Φ⁻¹(3/4), since half of a normal lies within Φ⁻¹(3/4) = 0.67449 standard deviations.
pub const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;

/// Converts the range between the quantiles at 20 % and 80 % to a standard deviation:
/// 1/(2·Φ⁻¹(4/5)).
const MIDDLE_TO_SIGMA: f64 = 0.594_091_586_298_612;

/// Converts the mean absolute deviation of a normal distribution to its standard deviation: √(π/2).
const MEAN_DEVIATION_TO_SIGMA: f64 = 1.253_314_137_315_500_3;

/// Half-width of the fence in standard deviations, for many samples; for n samples it is
/// FENCE_SIGMAS·(1 + [`FEW_SAMPLES`]/n).
///
/// The scale of few samples scatters (by 37 % for ten), so a fixed multiple of it would exclude
/// undisturbed samples and make intervals too narrow. With these two constants one normal set in a
/// thousand loses a sample, for 10 samples as for 100 (simulated: the 99.9 % quantiles of the
/// largest distance are 11.5, 6.0, 5.0 and 4.8 scales for 10, 20, 50 and 100 samples).
pub const FENCE_SIGMAS: f64 = 5.0;

/// See [`FENCE_SIGMAS`].
pub const FEW_SAMPLES: f64 = 10.0;

/// From this many samples on, the 20–80 % range counts for the scale. With fewer, two or three
/// disturbed samples would change it.
const FEWEST_FOR_MIDDLE: usize = 20;

/// Deviations whose ratio is within this of 1 are equal.
const ROUNDING: f64 = 1e-9;

/// With fewer samples than this, none can be called an outlier.
pub const FEWEST_TO_FENCE: usize = 5;

/// The range of undisturbed samples.
///
/// *Formula*: median ± [`FENCE_SIGMAS`]·(1 + [`FEW_SAMPLES`]/n)·σ, where σ is the scaled median
/// absolute deviation or, from 20 samples on, the scaled 20–80 % range if that is larger. If σ is
/// zero (a coarse clock gives ties), median ± the larger of [`FENCE_SIGMAS`] scaled mean absolute
/// deviations and the next step of the clock. That step counts only if several samples lie on it,
/// or if it is nearer than half the median. The 20–80 % range keeps all samples that alternate
/// between two steps of a coarse clock, for which the median of the deviations covers one step
/// only.
/// *Units*: those of the samples.
/// *Assumes* that less than a fifth of the samples are disturbed.
/// *Source*: Rousseeuw and Croux, "Alternatives to the Median Absolute Deviation" (1993), for the
/// scale's properties.
///
/// With fewer than [`FEWEST_TO_FENCE`] samples nothing is fenced off.
///
/// # Panics
/// If there are no samples.
pub fn fence(samples: &[f64]) -> Interval {
    let ordered = sorted(samples);
    if ordered.len() < FEWEST_TO_FENCE {
        return Interval { low: ordered[0], high: ordered[ordered.len() - 1] };
    }
    let centre = quantile_sorted(&ordered, 0.5);
    let deviations = sorted(&ordered.iter().map(|x| (x - centre).abs()).collect::<Vec<_>>());
    let mut sigma = MAD_TO_SIGMA * quantile_sorted(&deviations, 0.5);
    if ordered.len() >= FEWEST_FOR_MIDDLE {
        let middle = quantile_sorted(&ordered, 0.8) - quantile_sorted(&ordered, 0.2);
        sigma = sigma.max(MIDDLE_TO_SIGMA * middle);
    }
    let mut reach = FENCE_SIGMAS * (1.0 + FEW_SAMPLES / ordered.len() as f64) * sigma;
    if reach == 0.0 {
        reach = FENCE_SIGMAS * MEAN_DEVIATION_TO_SIGMA * mean(&deviations);
        // The next step of the clock, unless it is so far away that it is a disturbance: two
        // disturbances hardly ever last equally long.
        let step = deviations.iter().copied().find(|d| *d > 0.0).unwrap_or(0.0) * (1.0 + ROUNDING);
        let ties = deviations.iter().filter(|d| **d > 0.0 && **d <= step).count();
        if ties > 1 || step < centre.abs() / 2.0 {
            reach = reach.max(step);
        }
    }
    Interval { low: centre - reach, high: centre + reach }
}

/// The samples inside their [`fence`], in their order; never empty.
///
/// # Panics
/// If there are no samples.
pub fn inside_fence(samples: &[f64]) -> Vec<f64> {
    let fence = fence(samples);
    samples.iter().copied().filter(|&x| fence.contains(x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn outlier_among_ordinary_spread() {
        // Median 3, deviations 2 1 0 1 97: MAD 1, so the fence is 3 ± 5·(1 + 10/5)·1.48 = 3 ± 22.2.
        assert_eq!(inside_fence(&[1.0, 2.0, 3.0, 4.0, 100.0]), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn three_outliers_in_ten() {
        let mut samples = vec![10.0, 10.1, 9.9, 10.2, 9.8, 10.1, 9.9];
        samples.extend([20.0, 55.0, 100.0]);
        assert_eq!(inside_fence(&samples).len(), 7);
    }

    #[test]
    fn ties_do_not_make_the_other_step_an_outlier() {
        // A clock with steps of 10: 30 samples of 40 and 20 of 50. MAD is 0; both steps stay,
        // the interrupt does not.
        let mut samples = vec![40.0; 30];
        samples.extend(vec![50.0; 20]);
        samples.push(5000.0);
        assert_eq!(inside_fence(&samples).len(), 50);
        // 47 of 40 and 3 of 50: the 20–80 % range is 0 as well.
        let mut samples = vec![40.0; 47];
        samples.extend(vec![50.0; 3]);
        assert_eq!(inside_fence(&samples).len(), 50);
        // A time of 9 reads 10 or nothing; a single reading of nothing may be a disturbance.
        let reads = |none: usize| [vec![10.0; 50 - none], vec![0.0; none]].concat();
        assert_eq!([1, 2, 5].map(|none| inside_fence(&reads(none)).len()), [49, 50, 50]);
    }

    #[test]
    fn a_step_of_half_the_time_is_a_disturbance() {
        // 49 of 40 and one of 59, 60 and 61: five mean deviations are 2, so only the step keeps it.
        for (other, kept) in [(59.0, 50), (60.0, 49), (61.0, 49)] {
            let samples = [[40.0; 49].as_slice(), &[other]].concat();
            assert_eq!(inside_fence(&samples).len(), kept, "{other}");
        }
    }

    #[test]
    fn jittering_steps_stay_whole() {
        // 26 near 40, 24 near 50: MAD is the jitter, 0.1; the 20–80 % range sees the step.
        let samples: Vec<f64> =
            (0..50).map(|i| if i < 26 { 40.0 } else { 50.0 } + 0.1 * f64::from(i % 3)).collect();
        assert_eq!(inside_fence(&samples).len(), 50);
    }

    #[test]
    fn all_equal_and_tiny() {
        assert_eq!(inside_fence(&[4.0; 7]), [4.0; 7]);
        assert_eq!(inside_fence(&[1.0, 1.0, 90.0]), [1.0, 1.0, 90.0]);
        assert_eq!(inside_fence(&[1.0]), [1.0]);
    }

    proptest! {
        #[test]
        fn keeps_the_majority(samples in prop::collection::vec(0.0..1e6f64, 1..80)) {
            prop_assert!(2 * inside_fence(&samples).len() >= samples.len());
        }

        #[test]
        fn commutes_with_scaling(
            samples in prop::collection::vec(1.0..1e3f64, 5..40),
        ) {
            let scaled: Vec<f64> = samples.iter().map(|x| x * 1024.0).collect();
            prop_assert_eq!(inside_fence(&samples).len(), inside_fence(&scaled).len());
        }
    }
}

//! The one definition of a quantile.

/// Returns the samples in ascending order.
///
/// *Assumes* no NaN; infinities are allowed.
pub fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The quantile at probability `p` of samples that are already ascending.
///
/// *Formula*: with h = (n − 1)·p, linear interpolation between the order statistics ⌊h⌋ and ⌈h⌉
/// counted from zero: x⌊h⌋ + (h − ⌊h⌋)·(x⌈h⌉ − x⌊h⌋).
/// *Units*: those of the samples.
/// *Source*: Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996), definition 7; the
/// default of numpy and R.
///
/// # Panics
/// If there are no samples or `p` is outside 0..=1.
pub fn quantile_sorted(sorted: &[f64], p: f64) -> f64 {
    assert!(!sorted.is_empty(), "a quantile needs at least one sample");
    assert!((0.0..=1.0).contains(&p), "a probability lies in 0..=1");
    interpolated(sorted, (sorted.len() - 1) as f64 * p)
}

/// The value at `position` (from 0) of ascending samples, with linear interpolation.
pub(crate) fn interpolated(sorted: &[f64], position: f64) -> f64 {
    let below = position.floor() as usize;
    let above = position.ceil() as usize;
    if below == above {
        // Also prevents 0·∞ from turning an infinite sample into NaN.
        return sorted[below];
    }
    let share = position - below as f64;
    sorted[below] + share * (sorted[above] - sorted[below])
}

/// The quantile at probability `p` of samples in any order; see [`quantile_sorted`].
///
/// # Panics
/// If there are no samples or `p` is outside 0..=1.
pub fn quantile(samples: &[f64], p: f64) -> f64 {
    quantile_sorted(&sorted(samples), p)
}

/// The median: the middle sample, or the mean of the middle two.
///
/// # Panics
/// If there are no samples.
///
/// ```
/// assert_eq!(bandgap_stats::quantile::median(&[9.0, 1.0, 2.0]), 2.0);
/// ```
pub fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}

/// The arithmetic mean.
///
/// # Panics
/// If there are no samples.
pub fn mean(samples: &[f64]) -> f64 {
    assert!(!samples.is_empty(), "a mean needs at least one sample");
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The unbiased sample variance, Σ(x − x̄)² / (n − 1); zero for a single sample.
///
/// # Panics
/// If there are no samples.
pub fn variance(samples: &[f64]) -> f64 {
    let centre = mean(samples);
    let squares: f64 = samples.iter().map(|x| (x - centre).powi(2)).sum();
    squares / (samples.len().max(2) - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
    }

    #[test]
    fn interpolates_as_definition_7() {
        // n = 5, p = 0.9: h = 3.6, so 4 + 0.6·(10 − 4) = 7.6.
        assert!((quantile(&[1.0, 2.0, 3.0, 4.0, 10.0], 0.9) - 7.6).abs() < 1e-12);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 10.0], 1.0), 10.0);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 10.0], 0.0), 1.0);
    }

    #[test]
    fn variance_divides_by_one_less() {
        // Deviations −1, 0, 1: 2 / 2.
        assert_eq!(variance(&[1.0, 2.0, 3.0]), 1.0);
        assert_eq!(variance(&[5.0]), 0.0);
    }

    proptest! {
        #[test]
        fn quantiles_rise_with_probability(
            samples in prop::collection::vec(-1e9..1e9f64, 1..60),
            p in 0.0..=1.0f64,
            q in 0.0..=1.0f64,
        ) {
            let (low, high) = if p < q { (p, q) } else { (q, p) };
            prop_assert!(quantile(&samples, low) <= quantile(&samples, high));
        }

        #[test]
        fn a_mean_lies_between_the_ends(samples in prop::collection::vec(0.0..1e9f64, 1..300)) {
            prop_assert!(quantile(&samples, 0.0) <= mean(&samples) * (1.0 + 1e-12));
            prop_assert!(mean(&samples) <= quantile(&samples, 1.0) * (1.0 + 1e-12));
        }
    }
}

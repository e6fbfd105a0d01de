//! The ratio of two quantities that are measured side by side.

use crate::interval::{Interval, mean_interval, student_factor};
use crate::outlier::fence;
use crate::quantile::mean;
use crate::rounds::stretch;

/// The ratio of the means of pairs, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// Mean of the first over mean of the second.
    pub value: f64,
    /// Fieller's interval.
    pub interval: Interval,
}

/// The ratio of the mean of a to the mean of b over pairs (a, b).
///
/// *Formula*: ρ = ā/b̄. The interval are all ρ + δ for which the mean of a − (ρ + δ)·b is within
/// t(n − 1, confidence) standard errors of 0. With e = a − ρ·b, and v the (co)variances of means:
/// δ²·(b̄² − t²·v_bb) + 2δ·t²·v_eb − t²·v_ee ≤ 0.
/// *Units*: those of a over those of b.
/// *Assumes* that pairs are independent of each other and normal; a and b of one pair may be
/// correlated in any way.
/// *Source*: Fieller, "Some Problems in Interval Estimation" (1954).
///
/// `None` for fewer than two pairs, and where the interval of b̄ contains 0: then every ratio is
/// possible.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
#[must_use]
pub fn paired_ratio(pairs: &[(f64, f64)], confidence: f64) -> Option<PairedRatio> {
    let (above, below): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let interval = mean_interval(&below, confidence)?;
    if interval.contains(0.0) {
        return None;
    }
    let (count, b) = (pairs.len() as f64, mean(&below));
    let value = mean(&above) / b;
    let rest: Vec<f64> = pairs.iter().map(|(a, b)| a - value * b).collect();
    let covariance = |x: &[f64], y: &[f64]| {
        let (centre_x, centre_y) = (mean(x), mean(y));
        let products = x.iter().zip(y).map(|(x, y)| (x - centre_x) * (y - centre_y));
        products.sum::<f64>() / (count - 1.0) / count
    };
    let squared = student_factor(count - 1.0, confidence).powi(2);
    let [ee, eb, bb] = [(&rest, &rest), (&rest, &below), (&below, &below)]
        .map(|(x, y)| squared * covariance(x, y));
    let curvature = b * b - bb;
    let reach = (eb * eb + curvature * ee).max(0.0).sqrt();
    let [low, high] = [-reach, reach].map(|reach| value + (reach - eb) / curvature);
    Some(PairedRatio { value, interval: Interval { low, high } })
}

/// The same over several launches: the ratio of the means of the launches' means. Its interval is the hull
/// of two: that of all pairs together, and that of the launches' means as pairs, N − 1 degrees of freedom.
/// Of a single launch exactly [`paired_ratio`].
///
/// *Assumes* launches that are independent and alike.
///
/// `None` also where either of the two is.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
#[must_use]
pub fn paired_ratio_over_launches(
    launches: &[Vec<(f64, f64)>],
    confidence: f64,
) -> Option<PairedRatio> {
    over_launches(launches, paired_ratio(&launches.concat(), confidence)?, confidence)
}

/// The same of pairs that follow one another in time, one of each round: what successive rounds have in common
/// widens the interval by the [`stretch`] of e = a − ρ·b.
///
/// *Assumes* as [`stretch`]: drifts of the ratio that last no longer than two rounds.
///
/// `None` as there.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
#[must_use]
pub fn paired_ratio_of_rounds(
    launches: &[Vec<(f64, f64)>],
    confidence: f64,
) -> Option<PairedRatio> {
    let pairs = launches.concat();
    let PairedRatio { value, interval } = paired_ratio(&pairs, confidence)?;
    let rest: Vec<f64> = pairs.iter().map(|(a, b)| a - value * b).collect();
    let wider = |end: f64| value + stretch([&rest[..]]) * (end - value);
    let interval = Interval { low: wider(interval.low), high: wider(interval.high) };
    over_launches(launches, PairedRatio { value, interval }, confidence)
}

/// The ratio of the means of the launches' means, with the hull of its interval and that of all pairs together.
fn over_launches(
    launches: &[Vec<(f64, f64)>],
    pooled: PairedRatio,
    confidence: f64,
) -> Option<PairedRatio> {
    let filled: Vec<&Vec<(f64, f64)>> = launches.iter().filter(|of| !of.is_empty()).collect();
    if filled.len() < 2 {
        return Some(pooled);
    }
    let means = |pairs: &&Vec<(f64, f64)>| {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        (mean(&a), mean(&b))
    };
    let between = paired_ratio(&filled.iter().map(means).collect::<Vec<_>>(), confidence)?;
    let by = between.value - pooled.value;
    let Interval { low, high } = pooled.interval;
    let moved = Interval { low: low + by, high: high + by };
    Some(PairedRatio { value: between.value, interval: moved.hull(between.interval) })
}

/// The rows of which no value lies outside the fence of its column.
///
/// *Assumes* as [`fence`]. Without rows there is nothing to leave out.
#[must_use]
pub fn undisturbed<const N: usize>(rows: &[[f64; N]]) -> Vec<[f64; N]> {
    if rows.is_empty() {
        return Vec::new();
    }
    let fences: [Interval; N] = std::array::from_fn(|column| {
        fence(&rows.iter().map(|row| row[column]).collect::<Vec<f64>>())
    });
    let inside = |row: &&[f64; N]| row.iter().zip(&fences).all(|(x, fence)| fence.contains(*x));
    rows.iter().filter(inside).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn ratio_of_three_pairs_by_hand() {
        // a = 2b + e with e = −1, 2, −1 and b = 9, 10, 11: ρ = 2, v_ee = 3/3 = 1, v_eb = 0,
        // v_bb = 1/3, t² = 18.5128 (2 degrees): curvature 100 − 6.171 = 93.829,
        // δ = √(18.5128/93.829) = 0.444188.
        let found = paired_ratio(&[(17.0, 9.0), (22.0, 10.0), (21.0, 11.0)], 0.95).unwrap();
        assert_eq!(found.value, 2.0);
        assert!((found.interval.low - 1.555_812).abs() < 1e-5, "{found:?}");
        assert!((found.interval.high - 2.444_188).abs() < 1e-5);
    }

    #[test]
    fn exact_pairs_have_no_width_and_a_denominator_that_may_be_zero_no_ratio() {
        let found = paired_ratio(&[(-3.0, 2.0); 2], 0.95).unwrap();
        assert_eq!((found.value, found.interval), (-1.5, Interval { low: -1.5, high: -1.5 }));
        // Half-width t(2)·1/√3 = 2.48 about 2.
        assert_eq!(paired_ratio(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)], 0.95), None);
        assert!(paired_ratio(&[(1.0, 2.0), (1.0, 3.0), (1.0, 4.0)], 0.95).is_some());
        assert_eq!(paired_ratio(&[(1.0, 0.0); 3], 0.95), None);
        assert_eq!(paired_ratio(&[(1.0, 2.0)], 0.95), None);
        assert_eq!(paired_ratio(&[], 0.95), None);
    }

    #[test]
    fn covers_the_truth_where_both_are_correlated() {
        // 2000 trials of six pairs with a common error: the share's standard deviation is 0.5 %.
        let normal = Normal::new(0.0, 1.0).unwrap();
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(5);
        let covered = (0..2000)
            .filter(|_| {
                let pairs: Vec<(f64, f64)> = (0..6)
                    .map(|_| {
                        let [common, a, b] = [0; 3].map(|_| normal.sample(&mut generator));
                        (-30.0 + 4.0 * common + 3.0 * a, 100.0 + 8.0 * common + 5.0 * b)
                    })
                    .collect();
                paired_ratio(&pairs, 0.95).unwrap().interval.contains(-0.3)
            })
            .count();
        assert!((1870..=1930).contains(&covered), "{covered} of 2000");
    }

    #[test]
    fn a_ratio_over_launches_is_that_of_their_means_as_pairs() {
        // The means are the three pairs of the first test.
        let around = |a: f64, b: f64| vec![(a - 0.1, b + 0.1), (a + 0.1, b - 0.1)];
        let launches = [around(17.0, 9.0), around(22.0, 10.0), around(21.0, 11.0)];
        let found = paired_ratio_over_launches(&launches, 0.95).unwrap();
        assert!((found.value - 2.0).abs() < 1e-12);
        assert!((found.interval.low - 1.555_812).abs() < 1e-5, "{found:?}");
        // Launches that agree leave what the pairs of all say.
        let alike = [around(20.0, 10.0), around(20.0, 10.0), Vec::new()];
        let pooled = paired_ratio(&alike.concat(), 0.95);
        assert_eq!(paired_ratio_over_launches(&alike, 0.95), pooled);
        assert_eq!(paired_ratio_over_launches(&[alike.concat()], 0.95), pooled);
    }

    #[test]
    fn ratios_that_drift_over_rounds_have_wider_intervals() {
        let of = |above: [f64; 8]| -> PairedRatio {
            let pairs = above.map(|a| (a, 10.0)).to_vec();
            paired_ratio_of_rounds(&[pairs], 0.95).unwrap()
        };
        // What is left changes its sign from round to round, or keeps it for four of them: r₁ is −7/8, or 5/8, where
        // the widening is the greatest, √2.
        let apart = of([9.0, 11.0, 9.0, 11.0, 9.0, 11.0, 9.0, 11.0]);
        let alike = of([9.0, 9.0, 9.0, 9.0, 11.0, 11.0, 11.0, 11.0]);
        assert_eq!((apart.value, alike.value), (1.0, 1.0));
        let wider = alike.interval.half_width() / apart.interval.half_width();
        assert!((wider - 2.0_f64.sqrt()).abs() < 1e-9, "{wider}");
        assert_eq!(
            Some(apart),
            paired_ratio(
                &[9.0, 11.0].repeat(4).iter().map(|a| (*a, 10.0)).collect::<Vec<_>>(),
                0.95
            )
        );
    }

    #[test]
    fn a_row_with_one_disturbed_value_is_left_out_whole() {
        let mut rows: Vec<[f64; 2]> =
            (0..8).map(|i| [f64::from(i), 100.0 + f64::from(i)]).collect();
        rows[3][1] = 1e6;
        let kept = undisturbed(&rows);
        assert_eq!(kept.len(), 7);
        assert!(!kept.contains(&rows[3]));
        assert!(undisturbed::<2>(&[]).is_empty());
    }
}

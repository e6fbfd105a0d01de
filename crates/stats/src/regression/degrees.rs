//! Degrees of freedom of an estimated variance whose parts count unequally.

use crate::interval::student_factor;

/// Squares of standard normal variables: their weight and their number. All weights add up to 1, so
/// the weighted sum has the mean 1.
type Part = (f64, f64);

/// This many of the greatest weights are parts of their own; the others form one part.
const SINGLE: usize = 40;

/// Confidence at which the t distribution is matched.
const CONFIDENCE: f64 = 0.95;

/// Bisection steps, for the degrees and for the saddlepoint.
const DEGREES_STEPS: u32 = 24;
const SADDLE_STEPS: u32 = 40;

/// The degrees of freedom, 1 to `limit`, of the t distribution that has the same tails at 95 % as a
/// standard normal variable over the root of Σwᵢχᵢ².
///
/// `weights` are positive, in any scale. `shared` is the number of independent squares behind each
/// weight: 1 if they are independent, less if they are correlated.
///
/// *Formula*: d with P(|Z| > t·√Σwᵢχᵢ²) = P(|Z| > t·√(χ²_d/d)), where t is the 95 % factor of d.
/// Both sides are computed by the saddlepoint of the quadratic form Z² − t²Σwᵢχᵢ², so that equal
/// weights give exactly their number. Matching two moments (Satterthwaite) would make intervals too
/// wide if one weight is greater than the others together: it would assume that the sum is near
/// zero far too often.
/// *Assumes* numerator and denominator independent.
/// *Source*: Lugannani and Rice, "Saddle Point Approximation for the Distribution of the Sum of
/// Independent Random Variables" (1980); Kuonen, "Saddlepoint Approximations for Distributions of
/// Quadratic Forms in Normal Variables" (1999).
pub(super) fn equivalent(weights: &[f64], shared: f64, limit: f64) -> f64 {
    let parts = parts(weights, shared);
    let (mut low, mut high) = (1.0, limit.max(1.0));
    for _ in 0..DEGREES_STEPS {
        let degrees = f64::sqrt(low * high);
        let factor = student_factor(degrees, CONFIDENCE);
        if deviate(factor, &parts) < deviate(factor, &[(1.0 / degrees, degrees)]) {
            high = degrees;
        } else {
            low = degrees;
        }
    }
    f64::sqrt(low * high)
}

fn parts(weights: &[f64], shared: f64) -> Vec<Part> {
    let mut sorted = weights.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let total: f64 = sorted.iter().sum();
    let (single, rest) = sorted.split_at(SINGLE.min(sorted.len()));
    let mut parts: Vec<Part> = single.iter().map(|w| (w / total / shared, shared)).collect();
    let sum: f64 = rest.iter().sum();
    let squares: f64 = rest.iter().map(|w| w * w).sum();
    if squares > 0.0 {
        parts.push((squares / sum / total / shared, sum * sum / squares * shared));
    }
    parts
}

/// The standard normal deviate of P(|Z| > factor·√Σwχ²); a smaller one is a heavier tail.
fn deviate(factor: f64, parts: &[Part]) -> f64 {
    let square = factor * factor;
    // The cumulant function of Z² − square·Σwχ², and its derivatives; defined below 1/2.
    let first = |t: f64| {
        let pull = |&(w, n): &Part| n * square * w / (1.0 + 2.0 * t * square * w);
        1.0 / (1.0 - 2.0 * t) - parts.iter().map(pull).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 0.5);
    for _ in 0..SADDLE_STEPS {
        let middle = 0.5 * (low + high);
        if first(middle) < 0.0 { low = middle } else { high = middle }
    }
    let t = 0.5 * (low + high);
    let rest = |&(w, n): &Part| n * (2.0 * t * square * w).ln_1p();
    let cumulant = -0.5 * ((-2.0 * t).ln_1p() + parts.iter().map(rest).sum::<f64>());
    let bend = |&(w, n): &Part| 2.0 * n * (square * w / (1.0 + 2.0 * t * square * w)).powi(2);
    let second = 2.0 / (1.0 - 2.0 * t).powi(2) + parts.iter().map(bend).sum::<f64>();
    let root = (-2.0 * cumulant).sqrt();
    root + (t * second.sqrt() / root).ln() / root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_give_their_number() {
        for count in [1, 2, 5, 40, 41, 500] {
            let weights = vec![3.0; count];
            let degrees = equivalent(&weights, 1.0, 1e4);
            assert!((degrees / count as f64 - 1.0).abs() < 1e-4, "{count}: {degrees}");
        }
        // Two copies of each square are half as many.
        assert!((equivalent(&[1.0; 20], 0.5, 18.0) - 10.0).abs() < 1e-3);
        assert!((equivalent(&[1.0; 20], 1.0, 18.0) - 18.0).abs() < 1e-3);
    }

    #[test]
    fn one_great_weight_is_not_taken_for_a_single_square() {
        // Two squares of weights 1 − e and e: with s² = (1 − e)X² + eY², P(|Z| > f·s) = E 2Φ(−f·s).
        // The reference is that mean over the two normals, by the midpoint rule.
        let share = 0.1_f64;
        let steps = 2000;
        let miss = |factor: f64| {
            let at = |i: i32| 8.0 * (f64::from(i) + 0.5) / f64::from(steps);
            let density = |x: f64| (-0.5 * x * x).exp();
            let (mut sum, mut all) = (0.0, 0.0);
            for i in 0..steps {
                for j in 0..steps / 4 {
                    let (x, y) = (at(i), at(4 * j + 2));
                    let s = ((1.0 - share) * x * x + share * y * y).sqrt();
                    let weight = density(x) * density(y);
                    all += weight;
                    sum += weight * 2.0 * below(-factor * s);
                }
            }
            sum / all
        };
        let degrees = equivalent(&[1.0 - share, share], 1.0, 2.0);
        let missed = miss(student_factor(degrees, CONFIDENCE));
        assert!((missed - 0.05).abs() < 0.004, "{degrees}: {missed}");
        // Two moments would give 1/(0.9² + 0.1²) = 1.22 degrees, and miss too seldom.
        assert!(degrees > 1.4, "{degrees}");
        assert!(miss(student_factor(1.22, CONFIDENCE)) < 0.035);
    }

    /// Φ, by Abramowitz and Stegun 7.1.26; good to 1e-7.
    fn below(x: f64) -> f64 {
        let t = 1.0 / (1.0 + 0.327_591_1 * x.abs() / 2f64.sqrt());
        let series = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
        let tail = series.iter().rev().fold(0.0, |sum, c| (sum + c) * t) * (-0.5 * x * x).exp();
        if x < 0.0 { 0.5 * tail } else { 1.0 - 0.5 * tail }
    }
}

//! Whether deviations change sign as often as by chance.

use statrs::function::factorial::ln_binomial;

/// The probability of at most as many runs of equal sign as `deviations` have, in a random order. It
/// is small where neighbours deviate alike. Zeros are left out. It is 1 where all have one sign or none
/// is left.
///
/// *Formula*: the exact distribution of the number of runs of n₊ and n₋ signs in random order.
/// *Source*: Wald and Wolfowitz, "On a Test Whether Two Samples Are from the Same Population"
/// (1940).
#[must_use]
pub fn few_runs(deviations: &[f64]) -> f64 {
    let signs: Vec<bool> =
        deviations.iter().filter(|d| **d != 0.0).map(|d| d.is_sign_positive()).collect();
    let plus = signs.iter().filter(|sign| **sign).count() as u64;
    let minus = signs.len() as u64 - plus;
    if plus == 0 || minus == 0 {
        return 1.0;
    }
    let runs = 1 + signs.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
    let all = ln_binomial(plus + minus, plus);
    // None where there are fewer signs than runs: the logarithm of no way is −∞.
    let ways = |plus_runs: u64, minus_runs: u64| -> f64 {
        (ln_binomial(plus - 1, plus_runs - 1) + ln_binomial(minus - 1, minus_runs - 1) - all).exp()
    };
    let below: f64 = (2..=runs)
        .map(|runs| {
            let half = runs / 2;
            if runs % 2 == 0 {
                2.0 * ways(half, half)
            } else {
                ways(half, half + 1) + ways(half + 1, half)
            }
        })
        .sum();
    below.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_for_two_and_two() {
        // The six orders of ++−−: 2 runs in two of them, 3 in two, 4 in two.
        assert!((few_runs(&[1.0, 2.0, -1.0, -3.0]) - 2.0 / 6.0).abs() < 1e-12);
        assert!((few_runs(&[1.0, -2.0, 0.0, -1.0, 3.0]) - 4.0 / 6.0).abs() < 1e-12);
        assert!((few_runs(&[1.0, -2.0, 1.0, -3.0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_sign_tells_nothing() {
        assert_eq!(few_runs(&[1.0, 2.0]), 1.0);
        assert_eq!(few_runs(&[]), 1.0);
    }

    #[test]
    fn an_arch_is_no_chance() {
        // 10 below, 20 above, 10 below: 3 runs of 20 and 20 signs;
        // P = (2 + 2·19)/C(40, 20) = 40/1.378e11.
        let arch: Vec<f64> =
            (0..40).map(|i| if (10..30).contains(&i) { 1.0 } else { -1.0 }).collect();
        let expected = 40.0 / 137_846_528_820.0;
        assert!((few_runs(&arch) / expected - 1.0).abs() < 1e-9);
    }
}

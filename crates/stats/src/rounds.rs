//! Values that were measured in rounds.
//!
//! Values of one round are neighbours in time and share its drift, and a drift may last longer than a
//! round. So neither are independent samples of what another run would give.

use std::collections::BTreeMap;

use crate::interval::{Interval, mean_interval, student_factor};
use crate::quantile::mean;

/// A value and the number of its round; numbers rise with time.
pub type InRound = (u64, f64);

/// Fewer rounds than this say too little of what changes between rounds.
pub const FEWEST_ROUNDS: usize = 3;

/// How far each round pulls the mean of the values off what it is: Σ(x − x̄)/n over the round's values
/// x, in the order of the rounds.
#[must_use]
pub fn pulls(values: &[InRound]) -> Vec<f64> {
    let centre = mean(&of(values));
    let count = values.len() as f64;
    let mut pulls = BTreeMap::<u64, f64>::new();
    for (round, value) in values {
        *pulls.entry(*round).or_default() += (value - centre) / count;
    }
    pulls.into_values().collect()
}

/// How many times wider an interval becomes since successive rounds are alike. One series of pulls for each launch.
///
/// *Formula*: √(1 + 2ρ), ρ = (r₁ + 1/R)/(1 − 4/R) between 0 and ½, r₁ the correlation of successive
/// pulls eᵣ on an estimate, Σeᵣ·eᵣ₊₁/Σeᵣ², of R rounds a launch (the mean over launches). About
/// r₁ = ρ − (1 + 4ρ)/R is expected, since the pulls are off their own mean. Of less than eight rounds, 1 − 4/R
/// counts as ½.
/// *Assumes* that rounds further apart are independent; then ρ is at most ½.
/// *Source*: Newey and West, "A Simple, Positive Semi-Definite, Heteroskedasticity and Autocorrelation
/// Consistent Covariance Matrix" (1987), with the one lag at full weight; Marriott and Pope, "Bias in
/// the Estimation of Autocorrelations" (1954), for 1/R.
#[must_use]
pub fn stretch<'a>(launches: impl IntoIterator<Item = &'a [f64]>) -> f64 {
    let (mut squares, mut products, mut rounds, mut count) = (0.0, 0.0, 0.0, 0.0);
    for pulls in launches {
        squares += pulls.iter().map(|pull| pull * pull).sum::<f64>();
        products += pulls.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        rounds += pulls.len() as f64;
        count += 1.0;
    }
    if squares == 0.0 {
        return 1.0;
    }
    let rounds = rounds / count;
    let alike = (products / squares + 1.0 / rounds) / (1.0 - 4.0 / rounds).max(0.5);
    (1.0 + 2.0 * alike.clamp(0.0, 0.5)).sqrt()
}

/// The interval of the values' mean; `None` for fewer than two.
///
/// *Formula*: x̄ ± t(R − 1, confidence)·√(R/(R − 1)·Σeᵣ²)·k, with the [`pulls`] eᵣ of R rounds and their
/// [`stretch`] k. With one value a round and k = 1 that is the t interval of the mean. With fewer than
/// [`FEWEST_ROUNDS`] it is the t interval over all values.
/// *Units*: those of the values.
/// *Assumes* drifts that last no longer than two rounds.
/// *Source*: Davison and Hinkley, "Bootstrap Methods and their Application" (1997), section 3.8, for
/// the variance of a mean over clusters.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
#[must_use]
pub fn interval(values: &[InRound], confidence: f64) -> Option<Interval> {
    if values.len() < 2 {
        return None;
    }
    let pulls = pulls(values);
    if pulls.len() < FEWEST_ROUNDS {
        return mean_interval(&of(values), confidence);
    }
    let centre = mean(&of(values));
    let rounds = pulls.len() as f64;
    let squares: f64 = pulls.iter().map(|pull| pull * pull).sum();
    let error = (squares * rounds / (rounds - 1.0)).sqrt() * stretch([&pulls[..]]);
    let half = student_factor(rounds - 1.0, confidence) * error;
    Some(Interval { low: centre - half, high: centre + half })
}

/// The values without their rounds.
#[must_use]
pub fn of(values: &[InRound]) -> Vec<f64> {
    values.iter().map(|(_, value)| *value).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn one_value_a_round_has_the_t_interval_of_the_mean() {
        // Mean 10, s² = 2.5, n = 5: half = t(4, 95 %)·√(2.5/5) = 1.963243; neighbours are not alike.
        let values = [10.0, 8.0, 12.0, 9.0, 11.0];
        let values: Vec<InRound> = (0..).zip(values).collect();
        assert_eq!(stretch([&pulls(&values)[..]]), 1.0);
        let found = interval(&values, 0.95).unwrap();
        assert!((found.half_width() - 1.963_243).abs() < 1e-6, "{found:?}");
        assert_eq!(interval(&values[..1], 0.95), None);
    }

    #[test]
    fn values_of_a_round_count_together() {
        // Three rounds at 9, 12 and 9, each four times: as if there were three values.
        let each = [9.0, 12.0, 9.0];
        let four: Vec<InRound> =
            (0..).zip(each).flat_map(|value| std::iter::repeat_n(value, 4)).collect();
        let once: Vec<InRound> = (0..).zip(each).collect();
        let (four, once) = (interval(&four, 0.95).unwrap(), interval(&once, 0.95).unwrap());
        // s² = 3, t(2, 95 %) = 4.302653: 4.302653·1.
        assert!((four.half_width() - 4.302_653).abs() < 1e-5, "{four:?}");
        assert!((four.half_width() - once.half_width()).abs() < 1e-9);
        // Two rounds say nothing of rounds.
        let two: Vec<InRound> = [(0, 9.0), (0, 10.0), (1, 11.0), (1, 12.0)].into();
        assert_eq!(interval(&two, 0.95), mean_interval(&[9.0, 10.0, 11.0, 12.0], 0.95));
    }

    #[test]
    fn successive_rounds_that_are_alike_widen_it() {
        // Pulls −1 −1 1 1: r₁ = (1 − 1 + 1)/4, and 1/4 for the mean: √(1 + 2·0.5).
        assert!((stretch([&[-1.0, -1.0, 1.0, 1.0][..]]) - 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!((stretch([&[-1.0, 1.0, -1.0, 1.0][..]]), stretch([&[0.0; 4][..]])), (1.0, 1.0));
    }

    #[test]
    fn a_drift_longer_than_a_round_is_covered() {
        // 2000 runs of ten rounds, a third of whose drift is that of the round before. Standard
        // deviation of the share: 0.5 %. Rounds taken for independent hold it in less than 90 %.
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
        let (mut held, mut plain) = (0, 0);
        for _ in 0..2000 {
            let mut before = normal();
            let values: Vec<InRound> = (0..10)
                .map(|round| {
                    let (own, inherited) = (normal(), before);
                    before = own;
                    (round, 100.0 + own + inherited / 3.0)
                })
                .collect();
            held += u32::from(interval(&values, 0.95).unwrap().contains(100.0));
            plain += u32::from(mean_interval(&of(&values), 0.95).unwrap().contains(100.0));
        }
        assert!((1850..=1950).contains(&held) && plain < 1800, "{held}, {plain} of 2000");
    }
}

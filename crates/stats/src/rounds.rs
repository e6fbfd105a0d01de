//! Values that were measured in rounds.
//!
//! Values of one round are neighbours in time and share its drift, and a drift may last longer than
//! a round. So neither values nor rounds are independent samples of what another run would give.

use std::collections::BTreeMap;

use crate::quantile::mean;

/// Round number and value; round numbers rise with time.
pub type InRound = (u64, f64);

/// With fewer rounds than this, too little is known about changes between rounds.
pub const FEWEST_ROUNDS: usize = 3;

/// How far each round pulls the mean of the values: Σ(x − x̄)/n over the round's values x, in the
/// order of the rounds.
pub fn pulls(values: &[InRound]) -> Vec<f64> {
    let centre = mean(&of(values));
    let count = values.len() as f64;
    let mut pulls = BTreeMap::<u64, f64>::new();
    for (round, value) in values {
        *pulls.entry(*round).or_default() += (value - centre) / count;
    }
    pulls.into_values().collect()
}

/// Factor by which an interval widens because successive rounds are correlated. Takes one series of
/// pulls for each launch.
///
/// *Formula*: √(1 + 2ρ), where ρ = (r₁ + 1/R)/(1 − 4/R), limited to 0..½; R is the mean number of
/// rounds per launch, and r₁ = Σeᵣ·eᵣ₊₁/Σeᵣ² is the correlation of successive pulls eᵣ on an
/// estimate. The correction is needed since the pulls are taken about their own mean, so that about
/// r₁ = ρ − (1 + 4ρ)/R is expected. Below eight rounds, 1 − 4/R counts as ½.
/// *Assumes* that rounds further apart are independent; then ρ is at most ½.
/// *Source*: Newey and West, "A Simple, Positive Semi-Definite, Heteroskedasticity and Autocorrelation
/// Consistent Covariance Matrix" (1987), with the one lag at full weight; Marriott and Pope, "Bias in
/// the Estimation of Autocorrelations" (1954), for 1/R.
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

/// The values without their rounds.
pub fn of(values: &[InRound]) -> Vec<f64> {
    values.iter().map(|(_, value)| *value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successive_rounds_that_are_alike_widen_it() {
        // Pulls −1 −1 1 1: r₁ = (1 − 1 + 1)/4, and 1/4 for the mean: √(1 + 2·0.5).
        assert!((stretch([&[-1.0, -1.0, 1.0, 1.0][..]]) - 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!((stretch([&[-1.0, 1.0, -1.0, 1.0][..]]), stretch([&[0.0; 4][..]])), (1.0, 1.0));
    }
}

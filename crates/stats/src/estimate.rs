//! The estimate of a mean and of a ratio over launches and rounds.
//!
//! Samples of a batch share caches, clock phase and disturbances, so a batch is one value. Batches
//! of a round are neighbours in time and share its drift, so a round is one cluster. Batches of a
//! launch share its processes, and thus the positions of lines and pages: only launches are
//! independent samples of what another launch would give.

use std::collections::BTreeMap;

use crate::batch::BatchEstimate;
use crate::interval::{Interval, assert_confidence, student_factor};
use crate::outlier::fence;
use crate::quantile::{mean, variance};
use crate::rounds::{FEWEST_ROUNDS, InRound, of, pulls, stretch};

/// The mean of batches with its interval. Each batch is given as (launch, round, value).
///
/// *Formula*: x̄ = Σx̄ₗ/N, where x̄ₗ is the mean of those values of launch l that lie inside its
/// own [`fence`] (a common fence would exclude a launch for being different). The half-width is the
/// larger of two:
/// - within launches: t(Σ(Rₗ − 1))·k·√(Σₗ Rₗ/(Rₗ − 1)·Σᵣ eₗᵣ²), where eₗᵣ = Σ(x − x̄ₗ)/(nₗ·N) over
///   the values of round r, launch l has Rₗ rounds and nₗ values, and k is the [`stretch`] of the
///   eₗᵣ. In a launch with fewer than [`FEWEST_ROUNDS`] rounds, each value counts as a round.
/// - between launches, if N ≥ 2: t(N − 1)·s/√N, where s² is the unbiased variance of the x̄ₗ. It
///   includes the variance within launches, but has few degrees of freedom: s from few launches is
///   sometimes small by chance, and then the first half-width holds.
///
/// *Units*: those of the values.
/// *Assumes* that launches are independent and alike, and that a drift within a launch lasts no
/// longer than two rounds. A single launch says nothing about others.
/// *Source*: Scheffé, "The Analysis of Variance" (1959), 7.2, for the one-way layout with random effects; Davison
/// and Hinkley, "Bootstrap Methods and their Application" (1997), section 3.8, for a mean over clusters.
///
/// `None` if neither has a degree of freedom: for fewer than two values.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn estimate(batches: &[(u32, u64, f64)], confidence: f64) -> Option<BatchEstimate> {
    let kept = by_launch(batches).into_iter().map(|(launch, values)| (launch, inside(&values)));
    over(kept, confidence)
}

/// As [`estimate`], but keeps all values: for rounds that were fenced as a whole.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn estimate_of_kept(batches: &[(u32, u64, f64)], confidence: f64) -> Option<BatchEstimate> {
    over(by_launch(batches), confidence)
}

fn by_launch(batches: &[(u32, u64, f64)]) -> BTreeMap<u32, Vec<InRound>> {
    let mut launches = BTreeMap::<u32, Vec<InRound>>::new();
    for (launch, round, value) in batches {
        launches.entry(*launch).or_default().push((*round, *value));
    }
    launches
}

fn over(
    launches: impl IntoIterator<Item = (u32, Vec<InRound>)>,
    confidence: f64,
) -> Option<BatchEstimate> {
    assert_confidence(confidence);
    let (numbers, launches): (Vec<u32>, Vec<Vec<InRound>>) = launches.into_iter().unzip();
    let count = launches.len() as f64;
    let means: Vec<f64> = launches.iter().map(|values| mean(&of(values))).collect();
    let clusters: Vec<Vec<f64>> = launches.iter().map(|values| clusters(values)).collect();

    let degrees: f64 = clusters.iter().map(|rounds| rounds.len() as f64 - 1.0).sum();
    let within = (degrees > 0.0).then(|| {
        let variance = clusters.iter().filter(|rounds| rounds.len() > 1).map(|rounds| {
            let own = rounds.len() as f64;
            own / (own - 1.0) * rounds.iter().map(|pull| (pull / count).powi(2)).sum::<f64>()
        });
        let stretch = stretch(clusters.iter().map(Vec::as_slice));
        student_factor(degrees, confidence) * stretch * variance.sum::<f64>().sqrt()
    });
    let between = (count > 1.0)
        .then(|| student_factor(count - 1.0, confidence) * (variance(&means) / count).sqrt());
    let half = [within, between].into_iter().flatten().reduce(f64::max)?;

    let value = mean(&means);
    let interval = Interval { low: value - half, high: value + half };
    let batches = launches.iter().map(Vec::len).sum();
    let launches = numbers.into_iter().zip(means).collect();
    Some(BatchEstimate { value, interval, batches, launches })
}

/// The ratio of a to b, measured in pairs. Each pair is given as (launch, round, a, b).
///
/// *Formula*: exp of the [`estimate`] of ln(a/b) and of its ends: the geometric mean of the pairs'
/// ratios. So a/b and b/a are reciprocals of each other, ends included, and no denominator is near
/// zero.
/// *Units*: those of a over those of b.
/// *Assumes* the same as [`estimate`], for the logarithms; what a and b of a pair have in common
/// cancels. If the ratios scatter by a share σ, the result differs from the ratio of the means by a
/// share of about σ²/2.
/// *Source*: Fleming and Wallace, "How Not to Lie with Statistics: The Correct Way to Summarize Benchmark Results"
/// (1986), for the geometric mean of ratios.
///
/// `None` for fewer than two pairs, or if an a or b is not above 0: it has no logarithm, and
/// excluding it would move the ratio away from 1.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn ratio(pairs: &[(u32, u64, f64, f64)], confidence: f64) -> Option<BatchEstimate> {
    estimate(&logarithms(pairs)?, confidence).map(exponential)
}

/// As [`ratio`], but keeps all pairs: for rounds that were fenced as a whole.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn ratio_of_kept(pairs: &[(u32, u64, f64, f64)], confidence: f64) -> Option<BatchEstimate> {
    estimate_of_kept(&logarithms(pairs)?, confidence).map(exponential)
}

/// Logarithms of the pairs' ratios; `None` if a pair has none.
fn logarithms(pairs: &[(u32, u64, f64, f64)]) -> Option<Vec<(u32, u64, f64)>> {
    let logarithm = |&(launch, round, a, b): &(u32, u64, f64, f64)| {
        (a > 0.0 && b > 0.0).then(|| (launch, round, a.ln() - b.ln()))
    };
    pairs.iter().map(logarithm).collect()
}

fn exponential(point: BatchEstimate) -> BatchEstimate {
    let Interval { low, high } = point.interval;
    let interval = Interval { low: low.exp(), high: high.exp() };
    let launches = point.launches.iter().map(|(launch, value)| (*launch, value.exp())).collect();
    BatchEstimate { value: point.value.exp(), interval, launches, ..point }
}

/// The values inside their fence, with their rounds.
fn inside(values: &[InRound]) -> Vec<InRound> {
    let fence = fence(&of(values));
    values.iter().copied().filter(|(_, value)| fence.contains(*value)).collect()
}

/// Pull of each round on a launch's mean; of each value if there are too few rounds.
fn clusters(values: &[InRound]) -> Vec<f64> {
    let by_round = pulls(values);
    if by_round.len() >= FEWEST_ROUNDS {
        return by_round;
    }
    pulls(&(0..).zip(of(values)).collect::<Vec<InRound>>())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn of_launches(launches: &[&[f64]]) -> Vec<(u32, u64, f64)> {
        let numbered = (0..).zip(launches).map(|(launch, values)| {
            (0..).zip(*values).map(move |(round, value)| (launch, round, *value))
        });
        numbered.flatten().collect()
    }

    #[test]
    fn one_launch_of_one_value_a_round_has_the_t_interval() {
        // Mean 10, s² = 2.5, n = 5: half = t(4, 95 %)·√(2.5/5) = 1.963243; neighbours are not alike.
        let found = estimate(&of_launches(&[&[10.0, 8.0, 12.0, 9.0, 11.0]]), 0.95).unwrap();
        assert_eq!((found.value, found.batches), (10.0, 5));
        assert!((found.interval.half_width() - 1.963_243).abs() < 1e-6, "{found:?}");
        // Two values are two rounds: half = t(1, 95 %)·√(2/2) = 12.706205.
        let found = estimate(&[(0, 0, 9.0), (0, 0, 11.0)], 0.95).unwrap();
        assert!((found.interval.half_width() - 12.706_205).abs() < 1e-5, "{found:?}");
        assert_eq!((estimate(&[(3, 7, 1.0)], 0.95), estimate(&[], 0.95)), (None, None));
    }

    #[test]
    fn values_of_a_round_count_together() {
        // Rounds at 9, 12 and 9, four times each: s² = 3, t(2, 95 %)·√(3/3) = 4.302653.
        let four: Vec<_> = of_launches(&[&[9.0, 12.0, 9.0]]).repeat(4);
        let found = estimate(&four, 0.95).unwrap();
        assert!((found.interval.half_width() - 4.302_653).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn launches_count_alike_and_their_variance_is_in() {
        // Means 10, 20 and 12: mean 14, s² = 28, half = t(2, 95 %)·√(28/3) = 13.144824.
        let launches: [&[f64]; 3] = [&[9.0, 10.0, 11.0], &[20.0; 9], &[11.0, 12.0, 13.0]];
        let found = estimate(&of_launches(&launches), 0.95).unwrap();
        assert!((found.value - 14.0).abs() < 1e-12);
        assert!((found.interval.half_width() - 13.144_824).abs() < 1e-5, "{found:?}");
        // One value a launch leaves only what is between: the t interval of the three.
        let found = estimate(&of_launches(&[&[10.0], &[20.0], &[12.0]]), 0.95).unwrap();
        assert!((found.interval.half_width() - 13.144_824).abs() < 1e-5, "{found:?}");
        // Launches that agree: s = 2 in each, t(6, 95 %)·√(3·4/3/9)·k, and the rounds −2 2 0 have k = 1.
        let found = estimate(&of_launches(&[&[8.0, 12.0, 10.0][..]; 3]), 0.95).unwrap();
        assert!((found.interval.half_width() - 2.446_912 * (4.0_f64 / 9.0).sqrt()).abs() < 1e-5);
    }

    #[test]
    fn a_disturbed_batch_is_left_out_and_a_different_launch_is_not() {
        let near = [10.0, 10.1, 9.9, 10.2, 9.8, 10.0];
        let far = [40.0, 40.1, 39.9, 40.0, 40.2, 90.0];
        let found = estimate(&of_launches(&[&near, &near, &near, &far]), 0.95).unwrap();
        assert_eq!(found.batches, 23);
        assert!((found.value - (30.0 + 40.04) / 4.0).abs() < 1e-9, "{found:?}");
        // Unless nothing is to be left out.
        let found = estimate_of_kept(&of_launches(&[&near, &far]), 0.95).unwrap();
        assert_eq!(found.batches, 12);
    }

    #[test]
    fn a_ratio_is_the_same_from_both_sides() {
        // ln(a/b) is ln 2 + (−1, 1, 0)·ln 1.1: value 2, half of the logarithm t(2, 95 %)·ln 1.1/√3.
        let pairs = [(0, 0, 20.0, 11.0), (0, 1, 22.0, 10.0), (0, 2, 30.0, 15.0)];
        let found = ratio(&pairs, 0.95).unwrap();
        let half = 4.302_653 * 1.1_f64.ln() / 3.0_f64.sqrt();
        assert!((found.value - 2.0).abs() < 1e-12);
        assert!((found.interval.high - 2.0 * half.exp()).abs() < 1e-5, "{found:?}");
        let turned =
            ratio(&pairs.map(|(launch, round, a, b)| (launch, round, b, a)), 0.95).unwrap();
        assert!((turned.value - 1.0 / found.value).abs() < 1e-12);
        assert!((turned.interval.low - 1.0 / found.interval.high).abs() < 1e-12);
        for none in [[1.0, 0.0], [-1.0, 1.0], [f64::NAN, 1.0]] {
            assert_eq!(ratio(&[(0, 0, 1.0, 1.0), (0, 1, none[0], none[1])], 0.95), None);
        }
        assert_eq!(ratio(&pairs[..1], 0.95), None);
        assert_eq!(ratio_of_kept(&pairs, 0.95), Some(found));
    }

    /// Trials of a simulation: a share of 95 % has a standard deviation of 0.5 %.
    const TRIALS: u32 = 2000;

    /// A synthetic table: so many launches, so many rounds in each with two batches of standard deviation 1.
    /// Launches are off by `between`, and rounds by 1, of which the next round inherits the share `lasting`.
    #[derive(Clone, Copy, Debug)]
    struct Synthetic {
        launches: u32,
        rounds: u64,
        between: f64,
        lasting: f64,
    }

    impl Synthetic {
        fn table(self, normal: &mut impl FnMut() -> f64) -> Vec<(u32, u64, f64)> {
            let mut table = Vec::new();
            for launch in 0..self.launches {
                let (off, mut before) = (self.between * normal(), normal());
                for round in 0..self.rounds {
                    let own = normal();
                    let drift = own + self.lasting * before;
                    before = own;
                    table.extend([(); 2].map(|()| (launch, round, off + drift + normal())));
                }
            }
            table
        }
    }

    fn normal() -> impl FnMut() -> f64 {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(29);
        move || StandardNormal.sample(&mut generator)
    }

    /// The tables that both are tried on, and the shares of intervals that may hold the truth.
    fn cases() -> Vec<(Synthetic, std::ops::Range<f64>)> {
        let of =
            |launches, rounds, between, lasting| Synthetic { launches, rounds, between, lasting };
        let mut cases = Vec::new();
        for rounds in [8, 21] {
            cases.push((of(1, rounds, 0.0, 0.0), 0.93..0.97));
            cases.push((of(1, rounds, 0.0, 0.3), 0.93..0.97));
        }
        for launches in [2, 3, 5, 10] {
            cases.push((of(launches, 8, 3.0, 0.3), 0.93..0.97));
            // Launches that do not differ: the interval may hold more than it promises, and not less.
            cases.push((of(launches, 8, 0.0, 0.3), 0.95..0.995));
        }
        cases
    }

    #[test]
    fn an_estimate_holds_the_truth_as_often_as_it_says() {
        for (synthetic, allowed) in cases() {
            let mut normal = normal();
            let held = (0..TRIALS).filter(|_| {
                estimate(&synthetic.table(&mut normal), 0.95).unwrap().interval.contains(0.0)
            });
            let share = held.count() as f64 / f64::from(TRIALS);
            assert!(allowed.contains(&share), "{share} of {synthetic:?}");
        }
    }

    #[test]
    fn a_ratio_holds_the_truth_as_often_as_it_says() {
        for (synthetic, allowed) in cases() {
            let mut normal = normal();
            let held = (0..TRIALS).filter(|_| {
                // What both have in common is five times what the ratio scatters by.
                let pairs = synthetic.table(&mut normal).into_iter().map(|(launch, round, off)| {
                    let common = (normal() / 2.0).exp();
                    (launch, round, 130.0 * common * (off / 10.0).exp(), 100.0 * common)
                });
                ratio(&pairs.collect::<Vec<_>>(), 0.95).unwrap().interval.contains(1.3)
            });
            let share = held.count() as f64 / f64::from(TRIALS);
            assert!(allowed.contains(&share), "{share} of {synthetic:?}");
        }
    }
}

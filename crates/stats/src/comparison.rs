//! Whether two sides differ, judged by launches: for a family of values, with guards against chance.
//!
//! A value of a launch is given as its logarithm, so that all changes are ratios, and the comparison of B with A is the
//! mirror of that of A with B.
//!
//! The intervals are simultaneous: Student's t for each value, at the level of Bonferroni for all values of a family. An
//! interval inside the margin says [`Verdict::Same`]. One that excludes 0 and reaches beyond the margin says
//! [`Verdict::More`] or [`Verdict::Less`], if two guards agree: no single launch may carry it, and launches that change
//! sides at random must seldom give as great a |t|. Anything else is [`Verdict::Open`].
//!
//! Launches that were made in pairs are judged by the differences within them.
//!
//! *Sources*: Welch, "The Generalization of 'Student's' Problem" (1947); Westfall and Young, "Resampling-Based Multiple
//! Testing" (1993), algorithm 4.1, for the permutation.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::interval::{Interval, student_factor, t_interval};
use crate::quantile::{mean, variance};

/// A value on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// The family whose intervals hold together: `families` of [`judge`] tells none from another.
    pub family: usize,
    /// Values of one group come from the same launches: these change sides together.
    pub group: usize,
    /// The logarithm in each launch of A; `None` for a launch without it.
    pub a: Vec<Option<f64>>,
    /// The same of B.
    pub b: Vec<Option<f64>>,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Confidence that all intervals of a family hold.
    pub confidence: f64,
    /// A change by less is none: ln(1 + m) for a margin of m.
    pub margin: f64,
    /// Whether launches of one place on both sides are a pair: then b − a is the sample.
    pub paired: bool,
}

/// What is said of a value of B, beside that of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval lies within the margin.
    Same,
    /// It is greater.
    More,
    /// It is less.
    Less,
    /// It cannot be told.
    Open(Reason),
}

/// Why a verdict is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A side has too few launches.
    FewLaunches,
    /// The interval is too wide.
    Wide,
    /// Without one of the launches nothing would be seen.
    OneLaunch,
    /// Launches that change sides at random give as much too often.
    Chance,
}

/// The change of a value from A to B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The logarithm of B/A; `None` where a side has nothing.
    pub value: Option<f64>,
    /// Its interval, simultaneous for the family.
    pub interval: Option<Interval>,
    /// How often launches that change sides give a greatest |t| as great, with the smaller changes of all families.
    pub p: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Launches a side at which one like it would be decided.
    pub needed: Option<u64>,
}

/// Draws of launches that change sides.
const DRAWS: u32 = 1999;
/// The fewest launches a side that decide.
const FEWEST: u64 = 4;
/// The fewest pairs that decide: as great a |t| comes by chance once in 2⁵.
pub const FEWEST_PAIRS: u64 = 6;
/// The most launches a side that are named as needed.
const MOST_NEEDED: u64 = 1000;

/// For each of so many pairs, whether A goes first: at random, by a seed.
pub fn a_first(pairs: usize, seed: u64) -> Vec<bool> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..pairs).map(|_| random.random()).collect()
}

/// Judges all values. Those of a group have as many launches.
///
/// *Formula*: d = mean b − mean a; its interval is d ± t(ν, 1 − (1 − confidence)/Q)·√(s²ₐ/nₐ + s²_b/n_b), with ν = 2n − 2
/// for n launches on both sides, else that of Welch and Satterthwaite, and Q the number of values of its family that have
/// two launches a side. Of k pairs it is d ± t(k − 1, 1 − (1 − confidence)/Q)·s/√k with s² of the differences.
/// p is that of Westfall and Young's step-down maxT over all families, from 1999 seeded draws, in which launches change
/// sides, or pairs of a group turn round.
/// *Assumes* that launches are independent of each other; values of a launch need not be.
/// *Errors*: fewer than four launches a side, or six pairs, decide nothing but [`Verdict::Same`].
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn judge(all: &[Sides], asked: Asked) -> Vec<Change> {
    let of = |sides| Test::of(sides, asked.paired);
    let tests: Vec<Option<Test>> = all.iter().map(of).collect();
    let chances = chances(all, &tests, asked.paired);
    let judged = |((sides, test), p): ((&Sides, &Option<Test>), Option<f64>)| {
        let means = average(&sides.a).zip(average(&sides.b));
        let value = means.map(|(a, b)| b - a);
        let Some((test, p)) = test.as_ref().zip(p) else {
            let verdict = Verdict::Open(Reason::FewLaunches);
            return Change { value, interval: None, p: None, verdict, needed: None };
        };
        let is_its =
            |(of, test): &(&Sides, &Option<Test>)| of.family == sides.family && test.is_some();
        let family = all.iter().zip(&tests).filter(is_its).count() as f64;
        let confidence = 1.0 - (1.0 - asked.confidence) / family;
        let Interval { low, high } = test.interval(confidence);
        let verdict = match () {
            () if -asked.margin <= low && high <= asked.margin => Verdict::Same,
            () if low <= 0.0 && high >= 0.0 => Verdict::Open(Reason::Wide),
            () if p > 1.0 - asked.confidence => Verdict::Open(Reason::Chance),
            () if test.count < test.fewest() => Verdict::Open(Reason::FewLaunches),
            () if rests_on_one(sides, asked) => Verdict::Open(Reason::OneLaunch),
            () if low > 0.0 => Verdict::More,
            () => Verdict::Less,
        };
        let is_open = matches!(verdict, Verdict::Open(_));
        let needed = is_open.then(|| test.needed(confidence, asked.margin)).flatten();
        Change { value, interval: Some(Interval { low, high }), p: Some(p), verdict, needed }
    };
    all.iter().zip(&tests).zip(chances).map(judged).collect()
}

fn known(launches: &[Option<f64>]) -> Vec<f64> {
    launches.iter().flatten().copied().collect()
}

/// The mean of what is known.
pub fn average<'a>(all: impl IntoIterator<Item = &'a Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = all.into_iter().flatten().copied().collect();
    (!known.is_empty()).then(|| mean(&known))
}

/// The differences within pairs.
fn differences(a: &[Option<f64>], b: &[Option<f64>]) -> Vec<Option<f64>> {
    a.iter().zip(b).map(|(a, b)| Some((*b)? - (*a)?)).collect()
}

/// Whether the change is not seen, at the plain confidence, without one of the launches.
fn rests_on_one(sides: &Sides, asked: Asked) -> bool {
    let count = sides.a.len();
    let hides = |at: usize| {
        let mut left = sides.clone();
        let launch = if at < count { &mut left.a[at] } else { &mut left.b[at - count] };
        launch.take().is_some()
            && Test::of(&left, asked.paired)
                .is_none_or(|test| test.interval(asked.confidence).contains(0.0))
    };
    (0..count + sides.b.len()).any(hides)
}

/// A difference of means.
struct Test {
    value: f64,
    /// Its variance, and the degrees of freedom of that.
    variance: f64,
    degrees: f64,
    /// The launches of the side that has fewer, or the pairs.
    count: u64,
    /// The variance of the difference of single launches.
    scatter: f64,
    paired: bool,
}

impl Test {
    /// `None` for fewer than two launches on a side, or two pairs.
    fn of(sides: &Sides, paired: bool) -> Option<Test> {
        let samples = match paired {
            true => vec![known(&differences(&sides.a, &sides.b))],
            false => vec![known(&sides.a), known(&sides.b)],
        };
        let count = samples.iter().map(Vec::len).min().filter(|count| *count > 1)?;
        let part = |of: &Vec<f64>| (variance(of) / of.len() as f64, of.len() as f64);
        let parts: Vec<(f64, f64)> = samples.iter().map(part).collect();
        let sum: f64 = parts.iter().map(|(part, _)| part).sum();
        // By the shares of the parts, which do not underflow.
        let own = |(part, count): &(f64, f64)| (part / sum).powi(2) / (count - 1.0);
        let is_equal = samples.iter().all(|of| of.len() == count);
        let degrees = match is_equal {
            true => samples.len() as f64 * (count as f64 - 1.0),
            false => 1.0 / parts.iter().map(own).sum::<f64>(),
        };
        let scatter = parts.iter().map(|(part, count)| part * count).sum();
        let turned = if paired { 1.0 } else { -1.0 };
        let value = samples.iter().fold(0.0, |all, of| turned * all + mean(of));
        Some(Test { value, variance: sum, degrees, count: count as u64, scatter, paired })
    }

    fn fewest(&self) -> u64 {
        if self.paired { FEWEST_PAIRS } else { FEWEST }
    }

    fn interval(&self, confidence: f64) -> Interval {
        if self.variance <= 0.0 {
            return Interval { low: self.value, high: self.value };
        }
        t_interval(self.value, self.variance, self.degrees, confidence)
    }

    /// Launches a side, or pairs, at which the half-width decides, if value and scatter stay; more than there are, in steps
    /// of a tenth.
    fn needed(&self, confidence: f64, margin: f64) -> Option<u64> {
        let half = self.value.abs().max(margin - self.value.abs());
        let samples = if self.paired { 1.0 } else { 2.0 };
        let decides = |count: &u64| {
            let of = *count as f64;
            let factor = student_factor(samples * (of - 1.0), confidence);
            factor * (self.scatter / of).sqrt() < half
        };
        let first = self.fewest().max(self.count + 1);
        let counts = std::iter::successors(Some(first), |count| Some(count + 1 + count / 10));
        counts.take_while(|count| *count <= MOST_NEEDED).find(decides)
    }
}

/// For each value with a test, how often launches that change sides, or pairs that turn round, give a |t| as great.
fn chances(all: &[Sides], tests: &[Option<Test>], paired: bool) -> Vec<Option<f64>> {
    // The draws are the same whichever side is called A.
    let first = tests.iter().flatten().map(|test| test.value).find(|value| *value != 0.0);
    let is_turned = first.is_some_and(|value| value < 0.0);
    let pooled = |(at, test): (usize, &Option<Test>)| {
        test.as_ref()?;
        let Sides { group, a, b, .. } = &all[at];
        let (a, b) = if is_turned { (b, a) } else { (a, b) };
        let centre = average(a)?;
        let launches = match paired {
            true => differences(a, b),
            false => a.iter().chain(b).map(|of| of.map(|of| of - centre)).collect(),
        };
        Some((at, *group, a.len(), launches))
    };
    let pooled: Vec<_> = tests.iter().enumerate().filter_map(pooled).collect();
    let marks = pooled.iter().map(|(_, group, first, launches)| {
        (*group, (0..launches.len()).map(|at| at < *first).collect::<Vec<bool>>())
    });
    let mut marks: BTreeMap<usize, Vec<bool>> = marks.collect();
    let statistic = if paired { of_pairs } else { of_launches };
    let all_t = |marks: &BTreeMap<usize, Vec<bool>>| -> Vec<f64> {
        pooled.iter().map(|(_, group, _, launches)| statistic(launches, &marks[group])).collect()
    };
    let seen = all_t(&marks);
    let mut order: Vec<usize> = (0..pooled.len()).collect();
    order.sort_by(|a, b| seen[*a].total_cmp(&seen[*b]));
    let mut counts = vec![1_u32; pooled.len()];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    for _ in 0..DRAWS {
        marks.values_mut().for_each(|of| match paired {
            true => of.iter_mut().for_each(|of| *of = random.random()),
            false => of.shuffle(&mut random),
        });
        let (drawn, mut greatest) = (all_t(&marks), 0.0_f64);
        for &at in &order {
            greatest = greatest.max(drawn[at]);
            // Sums in another order differ in the last digits.
            counts[at] += u32::from(greatest >= seen[at] * (1.0 - 1e-9));
        }
    }
    let (mut found, mut least) = (vec![None; all.len()], 0.0_f64);
    for &at in order.iter().rev() {
        least = least.max(f64::from(counts[at]) / f64::from(DRAWS + 1));
        found[pooled[at].0] = Some(least);
    }
    found
}

/// n, mean and variance of the mean.
fn moments(all: impl Iterator<Item = f64>) -> [f64; 3] {
    let [count, sum, squares] =
        all.fold([0.0; 3], |[n, sum, squares], x| [n + 1.0, sum + x, squares + x * x]);
    let left = squares - sum * sum / count;
    // What is left of equal values is rounding.
    let variance = if left <= 1e-12 * squares { 0.0 } else { left / (count - 1.0) / count };
    [count, sum / count, variance]
}

/// |t| of marked against other launches; 0 where a side has fewer than two.
fn of_launches(launches: &[Option<f64>], marks: &[bool]) -> f64 {
    let side = |of: bool| {
        moments(launches.iter().zip(marks).filter(|(_, mark)| **mark == of).filter_map(|(x, _)| *x))
    };
    t(side(true), side(false))
}

/// |t| of differences, of which those without a mark are turned round.
fn of_pairs(differences: &[Option<f64>], marks: &[bool]) -> f64 {
    let turned = |(x, mark): (&Option<f64>, &bool)| x.map(|x| if *mark { x } else { -x });
    t(moments(differences.iter().zip(marks).filter_map(turned)), [2.0, 0.0, 0.0])
}

fn t(one: [f64; 3], other: [f64; 3]) -> f64 {
    let difference = (one[1] - other[1]).abs();
    let is_none = difference == 0.0 || one[0] < 2.0 || other[0] < 2.0;
    if is_none { 0.0 } else { difference / (one[2] + other[2]).sqrt() }
}

#[cfg(test)]
mod tests;

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
//! *Sources*: Welch, "The Generalization of 'Student's' Problem" (1947); Westfall and Young, "Resampling-Based Multiple
//! Testing" (1993), algorithm 4.1, for the permutation.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
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
const FEWEST: usize = 4;
/// The most launches a side that are named as needed.
const MOST_NEEDED: u64 = 1000;

/// Judges all values. Those of a group have as many launches.
///
/// *Formula*: d = mean b − mean a; its interval is d ± t(ν, 1 − (1 − confidence)/Q)·√(s²ₐ/nₐ + s²_b/n_b), with ν = 2n − 2
/// for n launches on both sides, else that of Welch and Satterthwaite, and Q the number of values of its family that have
/// two launches a side. p is that of Westfall and Young's step-down maxT over all families, from 1999 seeded draws.
/// *Assumes* that launches are independent of each other; values of a launch need not be.
/// *Errors*: fewer than four launches a side decide nothing but [`Verdict::Same`].
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn judge(all: &[Sides], asked: Asked) -> Vec<Change> {
    let tests: Vec<Option<Test>> = all.iter().map(Test::of).collect();
    let chances = chances(all, &tests);
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
            () if known(&sides.a).len().min(known(&sides.b).len()) < FEWEST => {
                Verdict::Open(Reason::FewLaunches)
            }
            () if rests_on_one(sides, asked.confidence) => Verdict::Open(Reason::OneLaunch),
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

fn average(launches: &[Option<f64>]) -> Option<f64> {
    let known = known(launches);
    (!known.is_empty()).then(|| mean(&known))
}

/// Whether the change is not seen, at the plain confidence, without one of the launches.
fn rests_on_one(sides: &Sides, confidence: f64) -> bool {
    let count = sides.a.len();
    let hides = |at: usize| {
        let mut left = sides.clone();
        let launch = if at < count { &mut left.a[at] } else { &mut left.b[at - count] };
        launch.take().is_some()
            && Test::of(&left).is_none_or(|test| test.interval(confidence).contains(0.0))
    };
    (0..count + sides.b.len()).any(hides)
}

/// A difference of means, with s²/n and n of both sides.
struct Test {
    value: f64,
    parts: [(f64, f64); 2],
}

impl Test {
    /// `None` for fewer than two launches on a side.
    fn of(sides: &Sides) -> Option<Test> {
        let [a, b] = [known(&sides.a), known(&sides.b)];
        let part = |of: &[f64]| (variance(of) / of.len() as f64, of.len() as f64);
        (a.len() > 1 && b.len() > 1)
            .then(|| Test { value: mean(&b) - mean(&a), parts: [part(&a), part(&b)] })
    }

    fn interval(&self, confidence: f64) -> Interval {
        let [(a, count_a), (b, count_b)] = self.parts;
        let sum = a + b;
        if sum <= 0.0 {
            return Interval { low: self.value, high: self.value };
        }
        // By the shares of the parts, which do not underflow.
        let own = |part: f64, count: f64| (part / sum).powi(2) / (count - 1.0);
        let degrees = match count_a == count_b {
            true => count_a + count_b - 2.0,
            false => 1.0 / (own(a, count_a) + own(b, count_b)),
        };
        t_interval(self.value, sum, degrees, confidence)
    }

    /// Launches a side at which the half-width decides, if value and scatter stay; steps are of a tenth.
    fn needed(&self, confidence: f64, margin: f64) -> Option<u64> {
        let scatter: f64 = self.parts.iter().map(|(part, count)| part * count).sum();
        let half = self.value.abs().max(margin - self.value.abs());
        let decides = |count: &u64| {
            let of = *count as f64;
            student_factor(2.0 * of - 2.0, confidence) * (scatter / of).sqrt() < half
        };
        let counts = std::iter::successors(Some(4), |count| Some(count + 1 + count / 10));
        counts.take_while(|count| *count <= MOST_NEEDED).find(decides)
    }
}

/// For each value with a test, how often launches that change sides give a |t| as great.
fn chances(all: &[Sides], tests: &[Option<Test>]) -> Vec<Option<f64>> {
    // The draws are the same whichever side is called A.
    let first = tests.iter().flatten().map(|test| test.value).find(|value| *value != 0.0);
    let is_turned = first.is_some_and(|value| value < 0.0);
    let pooled = |(at, test): (usize, &Option<Test>)| {
        test.as_ref()?;
        let Sides { group, a, b, .. } = &all[at];
        let (a, b) = if is_turned { (b, a) } else { (a, b) };
        let centre = average(a)?;
        let both = a.iter().chain(b).map(|of| of.map(|of| of - centre));
        Some((at, *group, a.len(), both.collect::<Vec<_>>()))
    };
    let pooled: Vec<_> = tests.iter().enumerate().filter_map(pooled).collect();
    let marks = pooled.iter().map(|(_, group, first, both)| {
        (*group, (0..both.len()).map(|at| at < *first).collect::<Vec<bool>>())
    });
    let mut marks: BTreeMap<usize, Vec<bool>> = marks.collect();
    let all_t = |marks: &BTreeMap<usize, Vec<bool>>| -> Vec<f64> {
        pooled.iter().map(|(_, group, _, both)| statistic(both, &marks[group])).collect()
    };
    let seen = all_t(&marks);
    let mut order: Vec<usize> = (0..pooled.len()).collect();
    order.sort_by(|a, b| seen[*a].total_cmp(&seen[*b]));
    let mut counts = vec![1_u32; pooled.len()];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    for _ in 0..DRAWS {
        marks.values_mut().for_each(|of| of.shuffle(&mut random));
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

/// |t| of marked against other launches; 0 where a side has fewer than two.
fn statistic(launches: &[Option<f64>], marks: &[bool]) -> f64 {
    let mut sums = [[0.0; 3]; 2];
    for (x, mark) in launches.iter().zip(marks) {
        let Some(x) = x else { continue };
        let own = &mut sums[usize::from(*mark)];
        *own = [own[0] + 1.0, own[1] + x, own[2] + x * x];
    }
    let part = |[count, sum, squares]: [f64; 3]| {
        let left = squares - sum * sum / count;
        // What is left of equal values is rounding.
        if left <= 1e-12 * squares { 0.0 } else { left / (count - 1.0) / count }
    };
    let difference = (sums[0][1] / sums[0][0] - sums[1][1] / sums[1][0]).abs();
    let is_none = difference == 0.0 || sums.iter().any(|[count, ..]| *count < 2.0);
    if is_none { 0.0 } else { difference / (part(sums[0]) + part(sums[1])).sqrt() }
}

#[cfg(test)]
mod tests;

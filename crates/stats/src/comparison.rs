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
    Open,
}

/// Why a verdict is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A side has no or one launch.
    FewLaunches,
    /// The interval is too wide.
    Wide,
    /// Without this launch nothing would be seen: whether of B, and its index.
    OneLaunch(bool, usize),
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
    /// Why it is open.
    pub reason: Option<Reason>,
    /// Launches a side at which one like it would be decided.
    pub needed: Option<u64>,
}

/// Draws of launches that change sides.
const DRAWS: u32 = 1999;
/// The most launches a side that are named as needed.
const MOST_NEEDED: u64 = 1000;

/// Judges all values.
///
/// *Formula*: d = mean b − mean a; its interval is d ± t(ν, 1 − (1 − confidence)/Q)·√(s²ₐ/nₐ + s²_b/n_b), with ν = 2n − 2
/// for n launches on both sides, else that of Welch and Satterthwaite, and Q the number of values of its family that have two launches a side. p is that of
/// Westfall and Young's step-down maxT over all families, from 1999 seeded draws.
/// *Assumes* that launches are independent of each other; values of a launch need not be.
/// *Errors*: fewer than four launches a side decide nothing but [`Verdict::Same`]: at best one in ten or more of the
/// draws has the sides as they are, or mirrored.
///
/// # Panics
/// If the confidence is not strictly between 0 and 1.
pub fn judge(all: &[Sides], asked: Asked) -> Vec<Change> {
    let chances = chances(all);
    let has_two = |of: &&Sides| Welch::of(&known(&of.a), &known(&of.b)).is_some();
    let families: Vec<usize> = all.iter().filter(has_two).map(|of| of.family).collect();
    let judged = |(sides, p): (&Sides, Option<f64>)| {
        let [a, b] = [known(&sides.a), known(&sides.b)];
        let mut change = Change {
            value: (!a.is_empty() && !b.is_empty()).then(|| mean(&b) - mean(&a)),
            interval: None,
            p,
            verdict: Verdict::Open,
            reason: Some(Reason::FewLaunches),
            needed: None,
        };
        let Some(welch) = Welch::of(&a, &b) else { return change };
        let count = families.iter().filter(|family| **family == sides.family).count();
        let confidence = 1.0 - (1.0 - asked.confidence) / count as f64;
        let interval = welch.interval(confidence);
        let Interval { low, high } = interval;
        let (verdict, reason) = match () {
            () if -asked.margin <= low && high <= asked.margin => (Verdict::Same, None),
            () if low > 0.0 || high < 0.0 => match alone(sides, asked.confidence, low > 0.0) {
                _ if p.is_none_or(|p| p > 1.0 - asked.confidence) => {
                    (Verdict::Open, Some(Reason::Chance))
                }
                Some(reason) => (Verdict::Open, Some(reason)),
                None if low > 0.0 => (Verdict::More, None),
                None => (Verdict::Less, None),
            },
            () => (Verdict::Open, Some(Reason::Wide)),
        };
        let needed = || welch.needed(confidence, asked.margin);
        let needed = (verdict == Verdict::Open).then(needed).flatten();
        change = Change { interval: Some(interval), verdict, reason, needed, ..change };
        change
    };
    all.iter().zip(chances).map(judged).collect()
}

fn known(launches: &[Option<f64>]) -> Vec<f64> {
    launches.iter().flatten().copied().collect()
}

/// The launch without which the change is not seen at the plain confidence.
fn alone(sides: &Sides, confidence: f64, is_more: bool) -> Option<Reason> {
    let without = |of_b: bool, at: usize| {
        let mut left = sides.clone();
        let launches = if of_b { &mut left.b } else { &mut left.a };
        launches[at].take()?;
        let holds = Welch::of(&known(&left.a), &known(&left.b)).is_some_and(|welch| {
            let Interval { low, high } = welch.interval(confidence);
            if is_more { low > 0.0 } else { high < 0.0 }
        });
        (!holds).then_some(Reason::OneLaunch(of_b, at))
    };
    let of_a = (0..sides.a.len()).map(|at| (false, at));
    of_a.chain((0..sides.b.len()).map(|at| (true, at))).find_map(|(of_b, at)| without(of_b, at))
}

/// A difference of means.
struct Welch {
    value: f64,
    /// s²/n and n of both sides.
    parts: [(f64, f64); 2],
}

impl Welch {
    /// `None` for fewer than two launches on a side.
    fn of(a: &[f64], b: &[f64]) -> Option<Welch> {
        let part = |of: &[f64]| (variance(of) / of.len() as f64, of.len() as f64);
        (a.len() > 1 && b.len() > 1)
            .then(|| Welch { value: mean(b) - mean(a), parts: [part(a), part(b)] })
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

    /// Launches a side at which the half-width decides, if value and scatter stay.
    fn needed(&self, confidence: f64, margin: f64) -> Option<u64> {
        let scatter: f64 = self.parts.iter().map(|(part, count)| part * count).sum();
        let half = self.value.abs().max(margin - self.value.abs());
        let decides = |count: &u64| {
            let of = *count as f64;
            student_factor(2.0 * of - 2.0, confidence) * (scatter / of).sqrt() < half
        };
        // The least of a few: the next steps are of a tenth.
        std::iter::successors(Some(4), |count| Some(count + 1 + count / 10))
            .take_while(|count| *count <= MOST_NEEDED)
            .find(decides)
    }
}

/// For each value with two launches a side, how often launches that change sides give a |t| as great.
fn chances(all: &[Sides]) -> Vec<Option<f64>> {
    let mut groups: Vec<(usize, [usize; 2])> = Vec::new();
    for sides in all {
        let long = [sides.a.len(), sides.b.len()];
        match groups.iter_mut().find(|(group, _)| *group == sides.group) {
            Some((_, own)) => *own = [own[0].max(long[0]), own[1].max(long[1])],
            None => groups.push((sides.group, long)),
        }
    }
    // Whether each launch is of A, as they are. The draws are the same whichever side is called A.
    let is_turned = all.iter().map(|of| mean_of(&of.b) - mean_of(&of.a)).find(|d| *d != 0.0);
    let is_turned = is_turned.is_some_and(|d| d < 0.0);
    let mut marks: Vec<Vec<bool>> =
        groups.iter().map(|(_, [a, b])| marked(*a, *b, is_turned)).collect();
    let place = |sides: &Sides| groups.iter().position(|(group, _)| *group == sides.group);
    let pooled = |(at, sides): (usize, &Sides)| {
        let group = place(sides)?;
        let [long_a, long_b] = groups[group].1;
        let padded = |of: &[Option<f64>], long: usize| {
            let centre = mean_of(&sides.a);
            let mut of: Vec<Option<f64>> = of.iter().map(|x| x.map(|x| x - centre)).collect();
            of.resize(long, None);
            of
        };
        let mut both = [padded(&sides.a, long_a), padded(&sides.b, long_b)];
        if is_turned {
            both.reverse();
        }
        let enough = both.iter().all(|of| of.iter().flatten().count() > 1);
        enough.then(|| (at, group, both.concat()))
    };
    let pooled: Vec<(usize, usize, Vec<Option<f64>>)> =
        all.iter().enumerate().filter_map(pooled).collect();
    let all_t = |marks: &[Vec<bool>]| -> Vec<f64> {
        pooled.iter().map(|(_, group, of)| statistic(of, &marks[*group])).collect()
    };
    let seen = all_t(&marks);
    let mut order: Vec<usize> = (0..pooled.len()).collect();
    order.sort_by(|a, b| seen[*a].total_cmp(&seen[*b]));
    let mut counts = vec![1_u32; pooled.len()];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    for _ in 0..DRAWS {
        marks.iter_mut().for_each(|of| of.shuffle(&mut random));
        let drawn = all_t(&marks);
        let mut greatest = 0.0_f64;
        for &at in &order {
            greatest = greatest.max(drawn[at]);
            // Sums in another order differ in the last digits.
            counts[at] += u32::from(greatest >= seen[at] * (1.0 - 1e-9));
        }
    }
    let mut found = vec![None; all.len()];
    let mut least = 0.0_f64;
    for &at in order.iter().rev() {
        least = least.max(f64::from(counts[at]) / f64::from(DRAWS + 1));
        found[pooled[at].0] = Some(least);
    }
    found
}

/// The mean; 0 of nothing.
fn mean_of(launches: &[Option<f64>]) -> f64 {
    let known = known(launches);
    if known.is_empty() { 0.0 } else { mean(&known) }
}

fn marked(a: usize, b: usize, is_turned: bool) -> Vec<bool> {
    let [first, second] = if is_turned { [b, a] } else { [a, b] };
    let mut marks = vec![true; first];
    marks.resize(first + second, false);
    marks
}

/// Welch's |t| of marked against other launches; 0 where a side has fewer than two.
fn statistic(launches: &[Option<f64>], marks: &[bool]) -> f64 {
    let mut sums = [[0.0; 3]; 2];
    for (x, mark) in launches.iter().zip(marks) {
        let Some(x) = x else { continue };
        let own = &mut sums[usize::from(*mark)];
        *own = [own[0] + 1.0, own[1] + x, own[2] + x * x];
    }
    if sums.iter().any(|[count, ..]| *count < 2.0) {
        return 0.0;
    }
    let part = |[count, sum, squares]: [f64; 3]| {
        let left = squares - sum * sum / count;
        // What is left of equal values is rounding.
        let left = if left <= 1e-12 * squares { 0.0 } else { left };
        left / (count - 1.0) / count
    };
    let difference = (sums[0][1] / sums[0][0] - sums[1][1] / sums[1][0]).abs();
    let error = (part(sums[0]) + part(sums[1])).sqrt();
    if difference == 0.0 { 0.0 } else { difference / error }
}

#[cfg(test)]
mod tests;

//! Two sides of runs compared: what the file of a comparison holds, and how it is made.
//!
//! Values are matched by id, so no kind of result is known here. A curve is one value: the mean of the logarithms of its
//! points in a launch, each against its own mean. The rule is [`bandgap_stats::comparison`].

mod again;
mod blocks;
mod matched;
mod setups;

use bandgap_record::{Number, Quantity, Unit};
use bandgap_stats::Interval;
use bandgap_stats::comparison::{Asked, Change, Reason, Sides, Verdict, judge};
use bandgap_stats::interval::mean_interval;
use bandgap_stats::quantile::{mean, sorted};
use serde::{Deserialize, Serialize};

use crate::run::Run;
pub use again::{Decide, plan};
use matched::{ById, Matched, Values};
pub use setups::{Difference, Differences};

/// The file of a comparison.
pub const COMPARISON: &str = "comparison.json";
/// The `format` of the file, and its version.
const FORMAT: (&str, u32) = ("bandgap-compare", 1);
/// Runs a side from which on a run counts as one.
const RUNS: usize = 5;
/// How ids of floors begin.
const FLOOR: &str = "floor/";
/// Changes of exact values by less are rounding.
const ROUNDING: f64 = 1e-9;
/// Launches of one kind differ by less than this logarithm: a factor of 1.15.
const ALIKE: f64 = 0.14;

/// A comparison of side B with side A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// `bandgap-compare`.
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// The verdict on all.
    pub verdict: Word,
    /// The exit code.
    pub exit: u8,
    /// The verdicts that exit with code 1.
    pub fail_on: Vec<String>,
    /// The rule.
    pub rule: Rule,
    /// A and B.
    pub sides: [Side; 2],
    /// Differences of the set-ups.
    pub setup: Differences,
    /// The machine itself.
    pub machine: Machine,
    /// The values: those that changed first.
    pub quantities: Vec<Judged>,
    /// Ids of values and curves that only A has, or that are not of the same experiment.
    pub only_in_a: Vec<String>,
    /// The same of B.
    pub only_in_b: Vec<String>,
    /// What would decide what cannot be told.
    pub decide: Option<Decide>,
}

/// A verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The machine itself differs.
    Machine,
    /// B takes longer.
    Slower,
    /// It is another, and neither is better.
    Differs,
    /// B takes less time.
    Faster,
    /// It cannot be told.
    CannotTell,
    /// The interval lies within the margin.
    Same,
    /// Nothing was compared.
    #[default]
    NotChecked,
}

/// The rule of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// What is counted as one: `launch`, `run`, or `pair` of launches.
    pub unit: String,
    /// Confidence that all intervals of a family hold.
    pub confidence: Number,
    /// A change of B/A by less, up or down, is none.
    pub margin: Number,
    /// Number of values whose intervals hold together, by Bonferroni.
    pub family: usize,
}

/// A side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Its runs, as named.
    pub runs: Vec<String>,
    /// The most launches of a value, over its runs.
    pub launches: usize,
}

/// The machine itself, by its floors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `same`, `machine` (it differs), `cannot_tell`, or `not_checked` without floors.
    pub verdict: Word,
    /// The floors.
    pub floors: Vec<Judged>,
}

/// A value or a curve of both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Its id; of a curve without the place on it.
    pub id: String,
    /// Points of a curve on both sides.
    pub points: Option<usize>,
    /// The geometric mean of A over launches; absent for a curve.
    pub a: Option<Quantity>,
    /// The mean of B.
    pub b: Option<Quantity>,
    /// B/A − 1 with its interval, simultaneous for the family.
    pub change: Option<Quantity>,
    /// How often launches that change sides at random give as great a change.
    pub p: Option<f64>,
    /// The verdict.
    pub verdict: Word,
    /// Whether its values are exact.
    pub exact: bool,
    /// Why it cannot be told: `few_launches`, `wide`, `rests_on_one_launch`, `chance`, `kinds_of_launches`, `not_above_0`.
    pub reason: Option<String>,
    /// Launches a side that would decide it.
    pub launches_needed: Option<u64>,
    /// What it is on both sides, for what is a word.
    pub words: Option<[String; 2]>,
    /// The id of the point of a curve that changed most, where the curve changed.
    pub most_at: Option<String>,
    /// Its points and the values of its fit that changed, where the curve changed: a family of their own.
    pub inside: Vec<Judged>,
}

/// Runs that were measured in pairs, one launch each.
pub struct Pairs {
    /// What earlier pairs have settled; they are not judged again.
    pub settled: Vec<Judged>,
    /// The command that measured them.
    pub command: Vec<String>,
}

impl Comparison {
    /// The comparison that these bytes are; `None` for anything else.
    pub fn from_json(bytes: &[u8]) -> Option<Comparison> {
        let read: Comparison = serde_json::from_slice(bytes).ok()?;
        ((&*read.format, read.version) == FORMAT).then_some(read)
    }

    /// Whether the sides have nothing in common, or floors alone beside other values.
    pub fn is_empty(&self) -> bool {
        let is_floor = |id: &String| id.starts_with(FLOOR);
        let mut common = self.quantities.iter().chain(&self.machine.floors).map(|of| &of.id);
        let mut only = self.only_in_a.iter().chain(&self.only_in_b);
        let is_of_floors = common.clone().next().is_some() && only.all(is_floor);
        common.all(is_floor) && !is_of_floors
    }

    /// Whether a value has this verdict.
    pub fn has(&self, word: Word) -> bool {
        self.quantities.iter().any(|of| of.verdict == word)
    }
}

impl Word {
    /// Whether something changed.
    pub fn is_change(self) -> bool {
        matches!(self, Word::Slower | Word::Faster | Word::Differs)
    }
}

/// Compares the runs of two sides, each with its name; with `pairs`, each run of B with that of A in its place.
pub fn compare(
    sides: [&[(String, Run)]; 2],
    confidence: f64,
    margin: f64,
    pairs: Option<Pairs>,
) -> Comparison {
    let unit = match pairs {
        Some(_) => "pair",
        None if sides.iter().all(|of| of.len() >= RUNS) => "run",
        None => "launch",
    };
    let runs: Vec<&Run> = sides.into_iter().flatten().map(|(_, run)| run).collect();
    let setup = Differences::between(&runs);
    let Pairs { settled, command } = pairs.unwrap_or(Pairs { settled: vec![], command: vec![] });
    let mut found = Matched::of(sides, &setup);
    found.common.retain(|id, _| settled.iter().all(|of| of.id != *id));
    let asked = Asked { confidence, margin: margin.ln_1p(), paired: unit == "pair" };
    let judge = |all: &ById| judged(all, asked, unit, &runs);
    let mut all = judge(&found.common);
    let has_interval = |of: &&Judged| of.p.is_some() && !is_of_machine(&of.id, &runs);
    let family = all.iter().filter(has_interval).count();
    for curve in all.iter_mut().filter(|of| of.points.is_some() && of.verdict.is_change()) {
        curve.inside = judge(&found.inside(&curve.id));
        curve.inside.retain(|of| of.verdict.is_change());
    }
    all.extend(settled);
    let (floors, mut quantities): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|of| is_of_machine(&of.id, &runs));
    quantities.extend(words(sides, &quantities));
    let size = |of: &Judged| of.change.as_ref().map_or(0.0, |of| of.value.0.ln_1p().abs());
    quantities.sort_by(|a, b| a.verdict.cmp(&b.verdict).then(size(b).total_cmp(&size(a))));
    let machine = floors.iter().map(|of| of.verdict).min().unwrap_or_default();
    let machine = if machine.is_change() { Word::Machine } else { machine };
    let first = quantities.first().map_or(machine, |of| of.verdict);
    let launches = |at: usize| found.common.values().map(move |of| of.launches(false)[at].len());
    let side = |at: usize| {
        let mut runs: Vec<String> = sides[at].iter().map(|(name, _)| name.clone()).collect();
        // Pairs are all of one program.
        runs.dedup();
        Side { runs, launches: launches(at).max().unwrap_or(0) }
    };
    let sides_of = [side(0), side(1)];
    let needed = quantities.iter().filter_map(|of| of.launches_needed).max();
    let decide = needed.map(|needed| Decide::of(sides, needed, (unit, &command)));
    let (confidence, margin) = (Number(confidence), Number(margin));
    Comparison {
        format: FORMAT.0.to_owned(),
        version: FORMAT.1,
        verdict: if machine == Word::Machine { machine } else { first },
        exit: 0,
        fail_on: Vec::new(),
        rule: Rule { unit: unit.to_owned(), confidence, margin, family },
        sides: sides_of,
        setup,
        machine: Machine { verdict: machine, floors },
        quantities,
        only_in_a: found.only_in_a,
        only_in_b: found.only_in_b,
        decide,
    }
}

/// Whether a value is a floor of the machine: one over a library is that library's.
fn is_of_machine(id: &str, runs: &[&Run]) -> bool {
    let mut setups = runs.iter().flat_map(|run| &run.setup.of).filter(|of| of.library.is_some());
    id.starts_with(FLOOR) && !setups.any(|of| id.split('/').any(|part| part == of.transport))
}

/// Judges values as two families: floors of the machine have their own.
fn judged(all: &ById, asked: Asked, unit: &str, runs: &[&Run]) -> Vec<Judged> {
    let is_transport =
        |part: &&str| runs.iter().any(|run| run.setup.of.iter().any(|of| of.transport == *part));
    // Launches of one transport, where as many were made; a pair has all of its transports.
    let mut groups: Vec<(Option<&str>, [usize; 2])> = Vec::new();
    let sides = all.iter().map(|(id, of)| {
        let [a, b] = of.launches(unit != "launch");
        let transport = id.split('/').find(is_transport).filter(|_| !asked.paired);
        let own = (transport, [a.len(), b.len()]);
        let group = groups.iter().position(|known| *known == own).unwrap_or(groups.len());
        groups.resize(groups.len().max(group + 1), own);
        Sides { family: usize::from(is_of_machine(id, runs)), group, a, b }
    });
    let sides: Vec<Sides> = sides.collect();
    let tested = all.values().zip(&sides).filter(|(of, _)| !of.is_exact);
    let mut changes =
        judge(&tested.map(|(_, sides)| sides.clone()).collect::<Vec<_>>(), asked).into_iter();
    let one = |((id, of), sides): ((&String, &Values), &Sides)| {
        let own = if of.is_exact { None } else { changes.next() };
        let change = own.unwrap_or_else(|| exact(of, asked.margin));
        Judged { id: id.clone(), ..of_change(of, sides, change, asked.confidence) }
    };
    all.iter().zip(&sides).map(one).collect()
}

/// The change of exact values: of a curve, where it is greatest.
fn exact(of: &Values, margin: f64) -> Change {
    let value = of.most().map_or(0.0, |(change, _)| change);
    let value = if value.abs() < ROUNDING { 0.0 } else { value };
    let verdict = match value {
        value if value.abs() <= margin => Verdict::Same,
        value if value > 0.0 => Verdict::More,
        _ => Verdict::Less,
    };
    let interval = Some(Interval { low: value, high: value });
    Change { value: Some(value), interval, p: None, verdict, needed: None }
}

/// Whether launches fall into kinds, of which two were met twice.
fn is_in_kinds(launches: &[Option<f64>]) -> bool {
    let all = sorted(&launches.iter().flatten().copied().collect::<Vec<_>>());
    all.chunk_by(|a, b| b - a < ALIKE).filter(|kind| kind.len() > 1).count() > 1
}

/// A value with its interval, from their logarithms.
fn quantity(
    unit: Unit,
    (value, interval): (f64, Option<Interval>),
    of: fn(f64) -> f64,
    launches: usize,
) -> Option<Quantity> {
    let ends = interval.map(|ends| (of(ends.low), of(ends.high))).filter(|of| of.1.is_finite());
    let evidence = ("geometric mean of launches", launches as u64, ends.is_some());
    Quantity::new(of(value), ends, unit, evidence).ok()
}

fn of_change(of: &Values, sides: &Sides, change: Change, confidence: f64) -> Judged {
    let is_rate = matches!(of.unit, Unit::BytePerSecond | Unit::PerSecond);
    let verdict = match change.verdict {
        Verdict::Same => Word::Same,
        Verdict::Open(_) => Word::CannotTell,
        _ if !is_rate && of.unit != Unit::Second => Word::Differs,
        verdict if (verdict == Verdict::Less) == is_rate => Word::Slower,
        _ => Word::Faster,
    };
    let is_in_kinds = is_in_kinds(&sides.a) || is_in_kinds(&sides.b);
    let reason = match change.verdict {
        Verdict::Open(_) if of.points.is_empty() => Some("not_above_0"),
        Verdict::Open(Reason::FewLaunches) => Some("few_launches"),
        Verdict::Open(Reason::OneLaunch) => Some("rests_on_one_launch"),
        Verdict::Open(_) if is_in_kinds => Some("kinds_of_launches"),
        Verdict::Open(Reason::Wide) => Some("wide"),
        Verdict::Open(Reason::Chance) => Some("chance"),
        _ => None,
    };
    let mean_of = |launches: &[Option<f64>]| {
        let known: Vec<f64> = launches.iter().flatten().copied().collect();
        let is_mean = !of.is_curve && of.is_above && !known.is_empty();
        let mean = || (mean(&known), mean_interval(&known, confidence));
        is_mean.then(|| quantity(of.unit, mean(), f64::exp, known.len())).flatten()
    };
    let count = sides.a.len() + sides.b.len();
    let ratio = |value| quantity(Unit::One, (value, change.interval), f64::exp_m1, count);
    let most = of.most().filter(|_| of.is_curve && verdict.is_change());
    Judged {
        points: of.is_curve.then_some(of.points.len()),
        a: mean_of(&sides.a),
        b: mean_of(&sides.b),
        change: change.value.and_then(ratio),
        p: change.p,
        verdict,
        exact: of.is_exact,
        reason: reason.map(str::to_owned),
        launches_needed: change.needed,
        most_at: most.map(|(_, id)| id.to_owned()),
        ..Judged::default()
    }
}

/// The words that differ, of exact values and of those that changed.
fn words([a, b]: [&[(String, Run)]; 2], judged: &[Judged]) -> Vec<Judged> {
    let of_side = |runs: &[(String, Run)]| -> Vec<[String; 3]> {
        let results = runs.iter().take(1).flat_map(|(_, run)| &run.results);
        results.flat_map(|of| of.as_shown().words()).collect()
    };
    let others = of_side(b);
    let differs = |[id, word, of]: [String; 3]| {
        let [_, other, _] = others.iter().find(|other| other[0] == id && other[1] != word)?;
        // Equal values of launches are exact, too, and say nothing of words.
        let has_moved =
            |judged: &Judged| judged.change.as_ref().is_some_and(|of| of.value.0 != 0.0);
        let counts =
            |judged: &Judged| judged.exact && has_moved(judged) || judged.verdict.is_change();
        let is_its = |judged: &Judged| counts(judged) && judged.id.starts_with(&format!("{of}/"));
        let is_open = [&word, other].into_iter().any(|of| of == "undecided");
        let verdict = if is_open { Word::CannotTell } else { Word::Differs };
        let words = Some([word, other.clone()]);
        judged.iter().any(is_its).then(|| Judged { id, verdict, words, ..Judged::default() })
    };
    of_side(a).into_iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests;

//! Series of message passing: those of `bandgap comms1`, `comms2`, `comms3`, `synch1` and `comet`.

use std::collections::BTreeSet;

use bandgap_campaign::beside::Beside;
use bandgap_campaign::series::{SeriesPlan, Step};
use bandgap_kernels::{Refused, Series, in_series};
use bandgap_launch::{Classify, Exit, Failure, distances};
use bandgap_results::assemble::{self, MESSAGE_COSTS, MESSAGES};

use super::measure::{BATCH, Session, counted};
use super::passing::{Comms, Ways};
use super::points::{Points, Skipped, sentences};
use crate::args::{Measure, Output};

/// Which series are measured.
pub struct Names<'a> {
    /// Their names.
    pub names: &'a [&'a str],
    /// Whether these are all there are: those that so many ranks cannot do are then left out.
    pub all: bool,
}

/// Measures, prints and keeps the series of these names.
///
/// # Errors
/// They could not be measured, or not be written.
pub fn run(
    command: &str,
    asked: &Names<'_>,
    comms: &Comms,
    ways: &Ways,
    measure: &Measure,
    output: &Output,
) -> Result<Exit, Failure> {
    let planned = planned(asked, comms, ways, measure)?;
    let mut session = Session::open(command, measure, output)?;
    planned.measure(&mut session, comms, measure)?;
    session.close()
}

/// Series that are left out, and why.
#[derive(Debug, Default)]
pub(super) struct LeftOut(Vec<(Vec<String>, String)>);

impl LeftOut {
    /// Leaves out the series of this name, which cannot be measured.
    pub(super) fn add(&mut self, name: &str, refused: &Failure) {
        let Failure { what, hint, .. } = refused;
        let hint = hint.as_ref().map_or(String::new(), |hint| format!(": {hint}"));
        let why = match what.strip_prefix(&format!("measure {name}: ")) {
            Some(why) => format!("{why}{hint}"),
            None => format!("cannot {what}{hint}"),
        };
        match self.0.iter_mut().find(|(_, other)| *other == why) {
            Some((names, _)) if names.iter().any(|known| known == name) => {}
            Some((names, _)) => names.push(name.to_owned()),
            None => self.0.push((vec![name.to_owned()], why)),
        }
    }

    /// A sentence for each reason.
    pub(super) fn sentences(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(names, why)| {
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("{} {are} left out: {why}", names.join(", "))
        })
    }
}

/// Series that can be measured.
pub(super) struct Planned {
    steps: Vec<Step>,
    /// Series that so many ranks cannot do, and why.
    left_out: LeftOut,
    /// What an algorithm that was asked for does not fit.
    skipped: Vec<Skipped>,
    ranks: usize,
}

/// Checks, before anything runs, what the options say.
///
/// # Errors
/// They cannot be measured so.
pub(super) fn planned(
    asked: &Names<'_>,
    comms: &Comms,
    ways: &Ways,
    measure: &Measure,
) -> Result<Planned, Failure> {
    let pair = comms.between.unwrap_or([0, 1]);
    let [a, b] = pair;
    if a == b {
        let what = format!("measure between rank {a} and itself");
        return Err(Failure::new(Exit::Usage, what).hint("name two different ranks"));
    }
    let (from, to) = comms.bounds()?;
    let points = Points { ways, buffers: comms.buffers, sizes: from..=to, pair };
    let least = a.max(b) + 1;
    let of_mesh = ways.mesh.map_or(0, |[rows, columns]| rows * columns);
    let usual = least.max(of_mesh);
    // What is named twice is measured once: the same batches twice are no more data.
    let ranks =
        once(if measure.ranks.is_empty() { std::slice::from_ref(&usual) } else { &measure.ranks });
    let names = &with_costs(once(asked.names))?;
    let most = ranks.iter().copied().max().unwrap_or(usual);
    // A mesh of none of these numbers of ranks is a mistake, whatever is measured.
    let mesh_fits = ways.mesh.is_none() || ranks.contains(&of_mesh);
    let mut steps = Vec::new();
    let mut left_out = LeftOut::default();
    let mut skipped = Vec::new();
    for name in names {
        let (_, series) = in_series(name).class(Exit::Usage)?;
        check_ranks(&series, &ranks, least, names.len() > 1)?;
        // Between two ranks the number of the others is none of its axes.
        for &ranks in if series.of_all { &ranks[..] } else { std::slice::from_ref(&most) } {
            match points.steps_of(&series, ranks) {
                Ok(found) => {
                    steps.extend(found.steps);
                    skipped.extend(found.skipped);
                }
                Err(refused) if asked.all && mesh_fits => left_out.add(name, &refused),
                Err(refused) => return Err(refused),
            }
        }
    }
    Ok(Planned { steps, left_out, skipped, ranks: most })
}

impl Planned {
    /// Number of kernels.
    pub(super) fn kernels(&self) -> usize {
        let names: BTreeSet<&str> = self.steps.iter().map(|step| step.series.as_str()).collect();
        names.len()
    }

    /// Checks that there is room for them.
    ///
    /// # Errors
    /// There is not.
    pub(super) fn check(&self, session: &Session<'_>) -> Result<(), Failure> {
        let (asked, steps) = (session.asked(), self.steps.clone());
        session.check(&SeriesPlan { asked, steps, samples: BATCH }, self.ranks)
    }

    /// Measures, prints and keeps them.
    ///
    /// # Errors
    /// They could not be measured, or not be written.
    pub(super) fn measure(
        self,
        session: &mut Session<'_>,
        comms: &Comms,
        measure: &Measure,
    ) -> Result<(), Failure> {
        let Self { mut steps, left_out, skipped, ranks } = self;
        if comms.between.is_none() {
            let cores = measure.options().cores;
            let found = distances(&session.stage, &session.target, ranks, cores.as_deref())?;
            steps = at_distances(steps, &found);
        }
        for sentence in left_out.sentences().chain(sentences(&skipped)) {
            session.sink.warn(&sentence);
        }
        let plan = SeriesPlan { asked: session.asked(), steps, samples: BATCH };
        let names: BTreeSet<&str> = plan.steps.iter().map(|step| step.series.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let fits = |floor: &Beside| plan.has_like(floor);
        session.measure_beside(&names, fits, &plan, ranks, |setting, table| {
            assemble::series(setting, &plan, table)
        })
    }
}

/// The steps of series that are measured at each distance, once for each; of one distance, as they
/// are.
fn at_distances(steps: Vec<Step>, found: &[(u32, [usize; 2])]) -> Vec<Step> {
    let everywhere = |step: &Step| step.kernel().is_ok_and(|(_, series)| series.at_distances);
    let spread = |step: Step| -> Vec<Step> {
        if found.len() < 2 || !everywhere(&step) {
            return vec![step];
        }
        let at =
            |&(hops, pair): &(u32, [usize; 2])| Step { pair, hops: Some(hops), ..step.clone() };
        found.iter().map(at).collect()
    };
    steps.into_iter().flat_map(spread).collect()
}

/// The series of these names, and what messages cost where collectives are measured beside the time of
/// messages: from both follows what the collectives cost.
fn with_costs(mut names: Vec<&str>) -> Result<Vec<&str>, Failure> {
    let is_collective = |name: &&str| in_series(name).map(|(_, series)| series.by_algorithm());
    let collectives: Result<Vec<bool>, Refused> = names.iter().map(is_collective).collect();
    let wanted = collectives.class(Exit::Usage)?.contains(&true)
        && names.iter().any(|name| MESSAGES.contains(name))
        && !names.contains(&MESSAGE_COSTS);
    names.extend(wanted.then_some(MESSAGE_COSTS));
    Ok(names)
}

/// Each of them once, in their order.
fn once<T: PartialEq + Copy>(all: &[T]) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(one) {
            kept.push(*one);
        }
    }
    kept
}

/// Checks the numbers of ranks. Beside series of all ranks, one of two takes the most ranks.
fn check_ranks(
    series: &Series,
    ranks: &[usize],
    least: usize,
    beside_others: bool,
) -> Result<(), Failure> {
    let usage = |what, hint: String| Err(Failure::new(Exit::Usage, what).hint(hint));
    if let Some(few) = ranks.iter().find(|few| **few < least) {
        let few = counted(*few, "rank");
        let what = format!("measure {} on {few}: it takes {least} at least", series.name);
        return usage(what, format!("give it --ranks {least} or more"));
    }
    if ranks.len() > 1 && !series.of_all && !beside_others {
        let what = format!("measure {} with several numbers of ranks", series.name);
        return usage(what, "two ranks take part in it: give one number".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_for_one_reason_is_told_once() {
        let refused = |what: &str| Failure::new(Exit::Usage, what).hint("take 4");
        let mut left_out = LeftOut::default();
        left_out.add("a", &refused("measure a: it takes four"));
        for name in ["b", "c", "b"] {
            left_out.add(name, &refused("make a mesh"));
        }
        let told: Vec<String> = left_out.sentences().collect();
        let expected = [
            "a is left out: it takes four: take 4",
            "b, c are left out: cannot make a mesh: take 4",
        ];
        assert_eq!(told, expected);
    }
}

//! Series over message passing, for `comms1`, `comms2`, `comms3`, `synch1` and `comet`.

mod options;

use std::collections::BTreeSet;
use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::beside::Beside;
use bandgap_campaign::plan::BATCH;
use bandgap_campaign::series::{LeftOut, SeriesPlan, Step, at_distances};
use bandgap_launch::{Collected, Ended, Exit, Result, Target, distances};
use bandgap_record::Note;

use crate::args::Measure;
use crate::refused::no_steps;
use crate::session::Session;
use options::once;
pub use options::{Lengths, Series, Ways};

/// Default time for one of these commands.
pub const USUAL: Duration = Duration::from_secs(15);

/// Measures and keeps one series.
///
/// # Errors
/// The measurement or the output failed.
pub fn run(name: &'static str, series: &Series, measure: &Measure) -> Result<Exit> {
    let planned =
        measure.each().map(|of| Planned::of(&[name], false, (series, &Ways::default()), &of));
    let mut planned = planned.collect::<Result<Vec<_>>>()?.into_iter();
    Session::each(name, measure, USUAL, [(name, 1.0)], |session| {
        planned.next().map_or(Ok(()), |of| of.measure(session, series))
    })
}

/// Planned series.
pub struct Planned {
    steps: Vec<Step>,
    ranks: usize,
    pub notes: Vec<Note>,
    spread: bool,
}

impl Planned {
    /// Plans series, before anything runs. If `all` kernels are meant, the plan leaves out those that the number of
    /// ranks does not allow.
    ///
    /// # Errors
    /// The options ask for something impossible.
    pub fn of(
        names: &[&str],
        all: bool,
        (series, ways): (&Series, &Ways),
        measure: &Measure,
    ) -> Result<Self> {
        let points = series.points(ways, measure.target().can(|can| can.collectives));
        let (names, given) = (once(names), once(&measure.ranks.ranks));
        let steps = points.steps(&names, &given, all).map_err(no_steps)?;
        let notes = steps.left_out.iter().map(noted).collect();
        Ok(Self { steps: steps.all, ranks: steps.ranks, notes, spread: series.between.is_none() })
    }

    /// The names of the series.
    pub fn names(&self) -> BTreeSet<&str> {
        self.steps.iter().map(|step| step.series.as_str()).collect()
    }

    fn plan(&self, session: &Session<'_>, steps: Vec<Step>) -> SeriesPlan {
        SeriesPlan { asked: session.asked(), steps, samples: BATCH }
    }

    /// Checks that the target has room for the series.
    ///
    /// # Errors
    /// The target lacks room.
    pub fn check(&self, session: &Session<'_>) -> Result<()> {
        session.check(&self.plan(session, self.steps.clone()), self.ranks)
    }

    /// Measures and keeps the series.
    ///
    /// # Errors
    /// The measurement or the output failed.
    pub fn measure(self, session: &mut Session<'_>, series: &Series) -> Result<()> {
        let mut at_work = self.begin(session)?;
        at_work.collect(session, None, false)?;
        at_work.end(session, series)
    }

    /// Prepares to measure on the session's target.
    ///
    /// # Errors
    /// The distances of ranks are unknown.
    pub fn begin(mut self, session: &mut Session<'_>) -> Result<AtWork> {
        let mut steps = std::mem::take(&mut self.steps);
        let names = steps.iter().map(|step| step.series.clone()).collect();
        if self.spread {
            let cores = session.measure.ranks.at.cores.as_deref();
            let found = distances(&session.stage, &session.target, self.ranks, cores)?;
            steps = at_distances(steps, &found);
        }
        self.notes.iter().for_each(|note| session.sink.note(note.clone()));
        let (plan, target) = (self.plan(session, steps), session.target.clone());
        Ok(AtWork { plan, names, ranks: self.ranks, target, collected: None })
    }
}

/// Series being measured on one target.
pub struct AtWork {
    plan: SeriesPlan,
    names: BTreeSet<String>,
    ranks: usize,
    target: Target,
    collected: Option<Collected>,
}

impl AtWork {
    /// Collects batches, with `only` those of one launch, and returns whether the measurement may go on. If there is
    /// already something `to_keep`, a failure is noted instead of returned.
    ///
    /// # Errors
    /// The measurement could not begin.
    pub fn collect(
        &mut self,
        session: &mut Session<'_>,
        only: Option<u32>,
        to_keep: bool,
    ) -> Result<bool> {
        if only.unwrap_or(0) > 0 && self.target.is_exact() {
            return Ok(true);
        }
        session.target = self.target.clone();
        let fits = |floor: &Beside| self.plan.has_like(floor);
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let found = session.collect_plan(&self.plan, self.ranks, (&names, &fits), only);
        let found = if to_keep { found.unwrap_or_else(Collected::nothing) } else { found? };
        let goes_on = found.ended == Ended::Done;
        self.collected = Some(match self.collected.take() {
            Some(before) => before.then(found),
            None => found,
        });
        Ok(goes_on)
    }

    /// Makes results of the collected batches, and keeps them.
    ///
    /// # Errors
    /// Results cannot be written.
    pub fn end(self, session: &mut Session<'_>, series: &Series) -> Result<()> {
        let Some(collected) = self.collected else { return Ok(()) };
        session.target = self.target;
        let breaks: Vec<u64> = series.lengths.breaks.iter().map(|bytes| bytes.0).collect();
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        session.assemble_plan(collected, self.ranks, &names, |measured| {
            assemble::fitted(measured, &breaks)
        })
    }
}

/// The note that a series is not measured, and at what its measurement failed.
pub fn left_out(about: &str, name: &str, what: &str) -> Note {
    Note::new("left_out", about).with("name", name).with("why", format!("failed to {what}"))
}

fn noted(of: &LeftOut) -> Note {
    match of {
        LeftOut::Series { name, why } => left_out(&format!("series/{name}"), name, why),
        LeftOut::Variant { series, variant, ranks, sizes: [left_out, all] } => {
            let name = format!("{series} by {variant} on {ranks} ranks");
            let note = Note::new("variant_left_out", format!("series/{series}")).with("name", name);
            note.with("sizes", *left_out as f64).with("of", *all as f64)
        }
    }
}

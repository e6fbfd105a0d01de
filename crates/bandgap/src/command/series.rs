//! Series of message passing: those of `comms1`, `comms2`, `comms3`, `synch1`, and of `comet`.

mod options;
mod points;

use std::collections::BTreeSet;
use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::beside::Beside;
use bandgap_campaign::series::{SeriesPlan, Step};
use bandgap_kernels::{Series as Measured, in_series};
use bandgap_launch::{Classify, Collected, Ended, Exit, Failure, Result, Target, distances, usage};
use bandgap_record::Note;

use crate::args::Measure;
use crate::output::counted;
use crate::session::{BATCH, Session};
use options::once;
pub use options::{Lengths, Series, Ways};
use points::Points;
pub use points::{elements, refusal};

/// Time for one of these commands.
pub const USUAL: Duration = Duration::from_secs(15);

/// Measures and keeps one series.
///
/// # Errors
/// It could not be measured, or not be written.
pub fn run(name: &'static str, series: &Series, measure: &Measure) -> Result<Exit> {
    let planned = Planned::of(&[name], false, series, measure)?;
    let mut session = Session::open(name, measure, USUAL, [(name, 1.0)])?;
    planned.measure(&mut session, series)?;
    session.close()
}

/// Series that can be measured.
pub struct Planned {
    steps: Vec<Step>,
    ranks: usize,
    notes: Vec<Note>,
    spread: bool,
}

impl Planned {
    /// Checks, before anything runs, what the options say. Where `all` kernels are meant, those that so many ranks
    /// cannot do are left out.
    ///
    /// # Errors
    /// They cannot be measured so.
    pub fn of(names: &[&str], all: bool, series: &Series, measure: &Measure) -> Result<Self> {
        Self::with(names, all, series, &Ways::default(), measure)
    }

    /// The same of kernels that may be done in several ways.
    ///
    /// # Errors
    /// As [`Planned::of`].
    pub fn with(
        names: &[&str],
        all: bool,
        series: &Series,
        ways: &Ways,
        measure: &Measure,
    ) -> Result<Self> {
        let pair = series.between.unwrap_or([0, 1]);
        if pair[0] == pair[1] {
            return Err(usage!("measure between rank {} and itself", pair[0])
                .hint("name two different ranks"));
        }
        let least = pair[0].max(pair[1]) + 1;
        let of_mesh = ways.mesh.map_or(0, |[rows, columns]| rows * columns);
        let usual = [least.max(of_mesh)];
        let given = &measure.ranks.ranks;
        let ranks = once(if given.is_empty() { &usual[..] } else { given });
        let most = ranks.iter().copied().max().unwrap_or(least);
        if let Some([rows, columns]) = ways.mesh.filter(|_| !ranks.contains(&of_mesh)) {
            return Err(usage!(
                "divide a matrix over {most} ranks: a mesh of {rows}x{columns} has {of_mesh}"
            )
            .hint(format!("give --ranks {of_mesh}")));
        }
        let library = measure.target().can(|can| can.collectives);
        let points = Points { series, ways, pair, library };
        let mut planned = Self {
            steps: Vec::new(),
            ranks: most,
            notes: Vec::new(),
            spread: series.between.is_none(),
        };
        let names = once(names);
        for &name in &names {
            let (_, of) = in_series(name).class(Exit::Usage)?;
            check_ranks(&of, &ranks, least, names.len() > 1)?;
            // Between two ranks the number of the others is none of its axes.
            for &ranks in if of.of_all { &ranks[..] } else { std::slice::from_ref(&most) } {
                match points.steps_of(&of, ranks) {
                    Ok((steps, notes)) => {
                        planned.steps.extend(steps);
                        planned.notes.extend(notes);
                    }
                    Err(refused) if all => {
                        let hint = refused.hint.map_or(String::new(), |hint| format!(" ({hint})"));
                        let why = format!("{}{hint}", refused.what);
                        planned.notes.push(left_out(name, &why));
                    }
                    Err(refused) => return Err(refused),
                }
            }
        }
        planned.notes.dedup();
        Ok(planned)
    }

    /// Adds something to be known.
    pub fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// The series in it.
    pub fn names(&self) -> BTreeSet<&str> {
        self.steps.iter().map(|step| step.series.as_str()).collect()
    }

    fn plan(&self, session: &Session<'_>, steps: Vec<Step>) -> SeriesPlan {
        SeriesPlan { asked: session.asked(), steps, samples: BATCH }
    }

    /// Checks that there is room for them.
    ///
    /// # Errors
    /// There is not.
    pub fn check(&self, session: &Session<'_>) -> Result<()> {
        session.check(&self.plan(session, self.steps.clone()), self.ranks)
    }

    /// Measures and keeps them.
    ///
    /// # Errors
    /// They could not be measured, or not be written.
    pub fn measure(self, session: &mut Session<'_>, series: &Series) -> Result<()> {
        let mut at_work = self.begin(session)?;
        at_work.collect(session, None, false)?;
        at_work.end(session, series)
    }

    /// Gets ready to measure on the session's target.
    ///
    /// # Errors
    /// The distances of ranks cannot be told.
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

/// Series that are measured on one target.
pub struct AtWork {
    plan: SeriesPlan,
    names: BTreeSet<String>,
    ranks: usize,
    target: Target,
    collected: Option<Collected>,
}

impl AtWork {
    /// Collects their batches; those of one launch alone, where it is named. Whether more can come. Where there is
    /// something `to_keep` already, whatever fails is noted beside it.
    ///
    /// # Errors
    /// Nothing could be begun.
    pub fn collect(
        &mut self,
        session: &mut Session<'_>,
        only: Option<u32>,
        to_keep: bool,
    ) -> Result<bool> {
        if only.unwrap_or(0) > 0 && matches!(self.target, Target::Simulated(_)) {
            return Ok(true);
        }
        session.target = self.target.clone();
        let fits = |floor: &Beside| self.plan.has_like(floor);
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let found = session.collect_plan(&self.plan, self.ranks, (&names, &fits), only);
        let found = match found {
            Err(failure) if !to_keep => return Err(failure),
            found => found.unwrap_or_else(Collected::nothing),
        };
        let goes_on = found.ended == Ended::Done;
        self.collected = Some(match self.collected.take() {
            Some(before) => before.then(found),
            None => found,
        });
        Ok(goes_on)
    }

    /// Makes results of what was collected, and keeps them.
    ///
    /// # Errors
    /// They cannot be written.
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

/// That something which was asked for is not measured.
pub fn left_out(name: &str, why: &str) -> Note {
    Note::new("left_out", format!("series/{name}")).with("name", name).with("why", why)
}

/// The steps of series that are measured at each distance, once for each; of one distance, as they are.
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

/// Checks the numbers of ranks. Beside series of all ranks, one of two takes the most ranks.
fn check_ranks(
    series: &Measured,
    ranks: &[usize],
    least: usize,
    beside_others: bool,
) -> Result<()> {
    let usage = |what, hint: String| Err(Failure::new(Exit::Usage, what).hint(hint));
    if let Some(few) = ranks.iter().find(|few| **few < least) {
        let few = counted(*few, "rank");
        let what = format!("measure {} with {few}: at least {least} are needed", series.name);
        return usage(what, format!("give --ranks {least} or more"));
    }
    if ranks.len() > 1 && !series.of_all && !beside_others {
        let what = format!("measure {} with several numbers of ranks", series.name);
        return usage(what, "two ranks take part: give one number".to_owned());
    }
    Ok(())
}

//! A measuring command: from a plan to kept results.

mod collecting;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bandgap_assemble::{AssembleError, Made, Measured, conditions, setup};
use bandgap_campaign::beside::Beside;
use bandgap_campaign::data::Scarce;
use bandgap_campaign::floors::RANKS;
use bandgap_campaign::plan::Asked;
use bandgap_campaign::{Planned, Setting, Task};
use bandgap_host::machine::{GLANCE, Machine};
use bandgap_launch::{
    Adopted, Allotted, Classify, Collected, Ended, Exit, Failure, Hosts, Options, Result, Stage,
    Target, has_room, signalled, usage,
};
use bandgap_record::Note;
use bandgap_results::Verdict;

use crate::args::Measure;
use crate::output::{Sink, counted, tell};
use crate::progress::Progress;

/// The share of the command's time for launches; the rest is for making results.
const MEASURING: f64 = 0.95;

/// The least time of a launch if there are more than usual.
const LAUNCH: Duration = Duration::from_millis(500);

/// A running measuring command.
pub struct Session<'a> {
    /// The machine on which ranks start.
    pub stage: Stage,
    /// Takes the results.
    pub sink: Sink,
    /// The current target.
    pub target: Target,
    /// The options.
    pub measure: &'a Measure,
    /// The progress of the command.
    pub progress: Progress,
    /// Variables for the processes of the next ranks.
    pub environment: Vec<(String, String)>,
    /// The end of all launches, and their time from the start of the command.
    end: Instant,
    whole: Duration,
    /// The share of the time that no part has taken yet.
    open: f64,
    /// The time of the current part.
    part: Allotted,
    /// Its launches.
    launches: u32,
    /// The launches of how many, and the shares of points and of minimal rounds, that the part with the least time got.
    cut: ([u32; 2], f64, f64),
    host: Option<Machine>,
    cpus: BTreeSet<usize>,
    exit: Exit,
    /// Whether the command that starts the ranks was printed.
    told: bool,
}

/// No floors.
pub const ALONE: Beneath<'static> = (&[], &|_| false);

/// Floors to measure: the names of the results they belong to, and whether the plan measures something like a floor.
type Beneath<'a> = (&'a [&'a str], &'a dyn Fn(&Beside) -> bool);

/// Tells the user that a signal asked to end.
pub fn interrupted(quiet: bool) -> impl Fn() + Send + 'static {
    move || {
        if !quiet {
            tell(format_args!(
                "bandgap: interrupted: finishing what was measured; a second signal ends at once"
            ));
        }
    }
}

impl<'a> Session<'a> {
    /// Opens the output, reaches the hosts and calibrates, before anything is measured. `usual` is the default time
    /// for the whole command; `stages` are its parts with their shares of the time.
    ///
    /// # Errors
    /// Results cannot be written, hosts cannot be reached, or the machine does not show its processors.
    pub fn open(
        command: &str,
        measure: &'a Measure,
        usual: Duration,
        stages: impl IntoIterator<Item = (impl Into<String>, f64)>,
    ) -> Result<Self> {
        let begun = Instant::now();
        let whole = measure.budget(usual).mul_f64(MEASURING);
        let end = begun + whole;
        let quiet = measure.output.quiet || measure.output.take_up.is_some();
        let named: Vec<String> = measure.ranks.transport.iter().map(Target::name).collect();
        if let Some(at) = (1..named.len()).find(|at| named[..*at].contains(&named[*at])) {
            return Err(usage!("measure over {} twice", named[at]).hint("name each transport once"));
        }
        measure.check_reach()?;
        let measures = measure.output.take_up.is_none();
        let hosts = measure.ranks.reach.hosts()?.filter(|_| measures);
        let gathered = match measure.adopted.as_ref().filter(|_| measures) {
            Some(adopted) => {
                let most = measure.most(adopted.size);
                adopted.check(most)?;
                Some(adopted.gather(most, measure.is_apart(), measure.deadline())?)
            }
            None => None,
        };
        let mut stage = Stage::new(interrupted(quiet))?;
        // From now on a signal ends the run in order, which removes an empty directory of the run.
        let mut sink = Sink::open(&measure.output, command, measure.precision.seed)?;
        sink.limits = measure.precision.limits.clone();
        let target = measure.target();
        if let Some(hosts) = hosts {
            stage.reach(hosts)?;
        }
        if let (Some(gathered), Some(Adopted { by, size, .. })) = (gathered, &measure.adopted) {
            if !quiet {
                let hosts = gathered.hosts.as_ref().map_or(1, Hosts::count);
                let hosts = counted(hosts, "host");
                tell(format_args!("bandgap: {by} has started {size} processes on {hosts}"));
            }
            stage.adopt(gathered, measure.ranks.reach.interface.clone())?;
        }
        let stages = stages.into_iter().map(|(name, weight)| (name.into(), weight));
        let mut progress = Progress::new(stages.collect(), quiet);
        progress.end = matches!(target, Target::Real(_)).then_some(end);
        let begun = Instant::now();
        let part = Allotted { begun, end: progress.end.unwrap_or(begun + whole), turn: (0, 1) };
        let (host, cpus, exit, told) = (None, BTreeSet::new(), Exit::Fine, false);
        Ok(Self {
            stage,
            sink,
            target,
            measure,
            progress,
            environment: Vec::new(),
            end,
            whole,
            open: 1.0,
            part,
            launches: measure.launches(),
            cut: ([measure.launches(); 2], 1.0, 1.0),
            host,
            cpus,
            exit,
            told,
        })
    }

    /// Opens the output, measures over each target in turn by `part`, with an equal share of the time, and closes. `usual` is
    /// the default time of one target, `stages` are its parts.
    ///
    /// # Errors
    /// As [`Session::open`] and [`Session::close`], or nothing could be measured.
    pub fn each<S: Into<String>>(
        command: &str,
        measure: &'a Measure,
        usual: Duration,
        stages: impl IntoIterator<Item = (S, f64)>,
        mut part: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<Exit> {
        let targets = measure.targets();
        let (several, stages) = (targets.len() > 1, stages.into_iter());
        let stages: Vec<(String, f64)> =
            stages.map(|(name, weight)| (name.into(), weight)).collect();
        let named = |target: &Target, name: &str| match several {
            true => format!("{target} {name}"),
            false => name.to_owned(),
        };
        let all = targets.iter().flat_map(|target| {
            stages.iter().map(move |(name, weight)| (named(target, name), *weight))
        });
        let mut session = Self::open(command, measure, usual * targets.len() as u32, all)?;
        for target in &targets {
            session.target = target.clone();
            if several {
                session.share(1.0 / targets.len() as f64);
            }
            match part(&mut session) {
                // The results of earlier targets are complete, and can be kept.
                Err(failure)
                    if failure.exit != Exit::Output && !session.sink.run.results.is_empty() =>
                {
                    session.end(&Collected::nothing(failure).ended);
                }
                done => done?,
            }
            if session.failed() {
                break;
            }
        }
        session.close()
    }

    /// Gives the next part this share of the whole time, or less if earlier parts took longer than theirs.
    pub fn share(&mut self, share: f64) {
        let begun = Instant::now();
        let left = self.end.saturating_duration_since(begun);
        let part = (share / self.open.max(share)).min(1.0);
        let time = match self.target {
            Target::Real(_) => self.whole.mul_f64(share).min(left.mul_f64(part)),
            Target::Simulated(_) => self.whole.mul_f64(share),
        };
        self.open -= share;
        self.launches = self.measure.launches();
        self.part = Allotted { begun, end: begun + time, turn: (0, 1) };
    }

    /// Gives the current part so many launches if there is time for them and the options name no other number.
    pub fn launch_often(&mut self, launches: u32) {
        if self.part.end.saturating_duration_since(self.part.begun) >= LAUNCH * launches {
            self.launches = self.measure.launches_or(launches);
        }
    }

    /// Makes the next part number `at` of `of` parts that take turns, launch by launch.
    pub fn turn(&mut self, at: usize, of: usize) {
        self.part.turn = (at as u32, of as u32);
    }

    /// Whether there is time for this launch of the current part.
    pub fn has_time_for(&self, launch: u32) -> bool {
        if let Some(earlier) = &self.sink.earlier {
            return !earlier.parts.is_empty();
        }
        self.part.has_time_for(launch, Instant::now())
    }

    /// The precision that the options ask for, with the time of the current part.
    pub fn asked(&self) -> Asked {
        let time = self.part.end.saturating_duration_since(self.part.begun);
        Asked {
            precision: self.measure.precision.precision.0,
            confidence: self.measure.precision.confidence.0,
            budget: time.as_secs_f64(),
            seed: self.measure.precision.seed,
            stamp: if matches!(self.target, Target::Real(_)) { self.stamp() } else { 0.0 },
            check: self.measure.effort.check,
        }
    }

    /// Checks, before anything is measured, that the target has room for `plan` with `ranks` ranks.
    ///
    /// # Errors
    /// The target lacks room.
    pub fn check(&self, plan: &impl Planned, ranks: usize) -> Result<()> {
        has_room(&self.target, ranks, &Task::of(plan).class(Exit::Defect)?)
    }

    /// Measures `plan` with `ranks` ranks on the target, together with the floors of `results` that `fits` accepts.
    /// Keeps what `assemble` makes of the batches, even if the run ends early.
    ///
    /// # Errors
    /// Ranks could not be started, or results not be written.
    pub fn measure(
        &mut self,
        plan: &impl Planned,
        ranks: usize,
        (results, fits): Beneath<'_>,
        assemble: impl FnOnce(&Measured<'_>) -> Result<Made, AssembleError>,
    ) -> Result<()> {
        let collected = self.collect_plan(plan, ranks, (results, fits), None)?;
        self.assemble_plan(collected, ranks, results, assemble)
    }

    /// Collects the batches for [`Session::measure`]; with `only`, those of one launch.
    ///
    /// # Errors
    /// Ranks could not be started.
    pub fn collect_plan(
        &mut self,
        plan: &impl Planned,
        ranks: usize,
        (results, fits): Beneath<'_>,
        only: Option<u32>,
    ) -> Result<Collected> {
        let target = self.target.clone();
        let beside = self.beside(results);
        let measured = beside.iter().filter(|floor| ranks >= RANKS && fits(floor));
        let task = Task::of(plan).class(Exit::Defect)?.with_floors(measured.cloned().collect());
        if only.unwrap_or(0) == 0 {
            self.sink.plan(&task);
        }
        let (launches, environment) = (self.launches, self.environment.clone());
        let options = Options { only, launches, environment, ..self.measure.options() };
        self.collect_with(&task, Some(&target), ranks, &options)
    }

    /// Makes and keeps results for [`Session::measure`].
    ///
    /// # Errors
    /// Results could not be written.
    pub fn assemble_plan(
        &mut self,
        collected: Collected,
        ranks: usize,
        results: &[&str],
        assemble: impl FnOnce(&Measured<'_>) -> Result<Made, AssembleError>,
    ) -> Result<()> {
        let beside = self.beside(results);
        let setting = Setting { beside, ..collected.setting(&self.target, ranks) };
        let asked = self.asked();
        self.assemble(collected, &setting, &asked, assemble)
    }

    /// The floors of these results on the target.
    fn beside(&self, results: &[&str]) -> Vec<Beside> {
        match &self.target {
            Target::Real(transport) => transport.beside(results),
            Target::Simulated(_) => Vec::new(),
        }
    }

    /// Makes results of the collected batches, and keeps them.
    ///
    /// # Errors
    /// Results cannot be kept.
    pub fn assemble(
        &mut self,
        collected: Collected,
        setting: &Setting,
        asked: &Asked,
        assemble: impl FnOnce(&Measured<'_>) -> Result<Made, AssembleError>,
    ) -> Result<()> {
        self.end(&collected.ended);
        if !setting.is_virtual() && collected.ended == Ended::Done {
            let (launches, points, rounds) = self.cut;
            let share = |what| collected.table.share(what);
            let own = [collected.launches.min(self.launches), self.launches];
            let is_less = own[0] * launches[1] <= launches[0] * own[1];
            self.cut = (
                if is_less { own } else { launches },
                points.min(share(Scarce::Points)),
                rounds.min(share(Scarce::Rounds)),
            );
        }
        let (table, failed) = (collected.table, matches!(collected.ended, Ended::Failed { .. }));
        let (made, conditions, setup) = {
            let judged = &asked.judge(&table);
            let measured = Measured { setting, judged };
            let made =
                if table.is_empty() { Err(AssembleError::Unmeasured) } else { assemble(&measured) };
            (made, conditions(&measured), setup(&measured))
        };
        for library in setup.iter().filter_map(|of| of.library.as_ref()) {
            let note = Note::new("library_untried", "").with("library", &*library.name);
            let tried = library.facts.get("tried").map(|tried| note.with("tried", &**tried));
            tried.into_iter().for_each(|note| self.sink.note(note));
        }
        self.sink.setup(setup);
        let result = match made {
            Ok(made) => {
                let is_missing = |note: &Note| ["too_little", "counts_off"].contains(&&*note.code);
                if made.notes.iter().any(is_missing) {
                    self.note(Exit::Missing);
                }
                self.sink.add(made, Some((conditions, table)))?;
                let verdict = Verdict::of(&self.sink.run);
                let good = verdict.counted - verdict.doubtful.len();
                format!(": {good} of {} values as precise as asked for", verdict.counted)
            }
            Err(reason) => {
                self.note(Exit::Missing);
                // If nothing was measured, the failure itself is already noted.
                if !table.is_empty() || !failed {
                    let of = format!("{}: {reason}", setting.transport);
                    self.sink.note(Note::new("too_little", "").with("what", of));
                }
                if !table.is_empty() {
                    self.sink.add(Made::default(), Some((conditions, table)))?;
                }
                ": too little was measured".to_owned()
            }
        };
        self.progress.next(&result);
        Ok(())
    }

    /// Notes how a measurement ended.
    pub fn end(&mut self, ended: &Ended) {
        match ended {
            Ended::Done => {}
            Ended::Interrupted => {
                self.sink.run.interrupted = true;
                self.note(Exit::Interrupted);
            }
            Ended::Failed { what, exit } => {
                self.progress.clear();
                self.sink.failed(what);
                self.note(*exit);
            }
        }
    }

    /// Notes an outcome; the gravest becomes the exit code.
    pub fn note(&mut self, exit: Exit) {
        self.exit = self.exit.max(exit);
    }

    /// Whether something worse than missing results happened.
    pub fn failed(&self) -> bool {
        self.exit > Exit::Missing
    }

    /// Records a more detailed description of the machine.
    pub fn describe(&mut self, host: Machine) {
        self.sink.host(self.host.insert(host));
    }

    /// Writes and prints everything. Only `--strict` makes imprecise values an exit code.
    ///
    /// # Errors
    /// The run cannot be written.
    pub fn close(mut self) -> Result<Exit> {
        self.progress.clear();
        let ([launches, of], points, rounds) = self.cut;
        if launches < of || points < 1.0 || rounds < 1.0 {
            let note = Note::new("time_short", "").with("launches", f64::from(launches));
            let note = note.with("of", f64::from(of)).with("points", points).with("rounds", rounds);
            self.sink.note(note);
        }
        // All batches are kept by now. A failed run ends at once, without a look at the noise.
        let looks = !self.failed() && self.sink.earlier.is_none();
        if let Some(mut host) = self.host.take().filter(|_| looks) {
            if host.noise.is_empty() {
                host.noise = self.stage.noise(self.cpus.iter().copied(), GLANCE);
                host = host.unseated(&self.stage.topology, 2);
            }
            self.sink.host(&host);
            self.stage.look(GLANCE);
            self.sink.hosts(&self.stage.agents());
        }
        // A signal after the last measurement leaves the run complete.
        let judged =
            |exit: Exit| if signalled().is_some() { exit.max(Exit::Interrupted) } else { exit };
        match self.sink.close(self.exit) {
            Ok(exit) => Ok(judged(exit)),
            Err(failure) => Err(Failure { exit: judged(self.exit.max(failure.exit)), ..failure }),
        }
    }
}

//! From a plan to printed and kept results: what every measuring command does.

use std::collections::BTreeSet;
use std::thread::Builder;

use bandgap_campaign::beside::Beside;
use bandgap_campaign::floors::RANKS;
use bandgap_campaign::plan::Asked;
use bandgap_campaign::{Planned, Setting, Table, Task};
use bandgap_host::kernel_trace::Switch;
use bandgap_launch::{
    Classify, Collected, Ended, Exit, Failure, Options, Stage, Target, Transport, Wait, collect,
    has_room,
};
use bandgap_results::assemble::{Assembled, unfitted_alone};
use bandgap_results::{AssembleError, Outcome};

use super::describe::{GLANCE, Host, noise};
use crate::args::{Measure, Output};
use crate::output::{Sink, tell};
use crate::progress::Progress;

/// Samples of a batch ("Assessing Fast Network Interfaces", Small-message empirical results).
pub(super) const BATCH: u32 = bandgap_stats::batch::BATCH as u32;

/// A measuring command at work.
pub(super) struct Session<'a> {
    pub(super) stage: Stage,
    pub(super) sink: Sink,
    /// The target that the options name, or the usual transport.
    pub(super) target: Target,
    /// Time for what is measured next, in seconds.
    pub(super) budget: f64,
    /// What switches the kernel's tracing of the ranks that are started next, if they are to be traced.
    pub(super) trace: Option<Switch>,
    /// The machine, once ranks were measured on it, and their processors.
    host: Option<Host>,
    cpus: BTreeSet<usize>,
    measure: &'a Measure,
    output: &'a Output,
    exit: Exit,
}

impl<'a> Session<'a> {
    /// Makes sure, before anything is measured, that results can be written.
    ///
    /// # Errors
    /// They cannot, or the machine does not show its processors.
    pub(super) fn open(
        command: &str,
        measure: &'a Measure,
        output: &'a Output,
    ) -> Result<Self, Failure> {
        let quiet = output.quiet;
        let stage = Stage::new(move || {
            if !quiet {
                // Whoever does not read this keeps no second signal from ending the program.
                let _ = Builder::new().spawn(|| {
                    tell(format_args!(
                        "bandgap: interrupted: finishing what was measured; a second signal ends at once"
                    ));
                });
            }
        })?;
        // A signal from now on ends the run in order, and removes a directory in which nothing was kept.
        let mut sink = Sink::open(output, command, measure)?;
        sink.measures = true;
        let usual = || Target::Real(Transport::usual());
        let target = measure.transport.clone().unwrap_or_else(usual);
        let budget = measure.budget().as_secs_f64();
        let (trace, host, cpus, exit) = (None, None, BTreeSet::new(), Exit::Fine);
        Ok(Self { stage, sink, target, budget, trace, host, cpus, measure, output, exit })
    }

    /// What the options ask for of the target.
    pub(super) fn asked(&self) -> Asked {
        Asked {
            precision: self.measure.precision.0,
            confidence: self.measure.confidence.0,
            budget: self.budget,
            seed: self.measure.seed,
            stamp: match self.target {
                Target::Simulated(_) => 0.0,
                Target::Real(_) => self.stage.clock.cost().0,
            },
            check: self.measure.check,
        }
    }

    /// Checks, before anything is measured, that there is room for `plan` with so many ranks.
    ///
    /// # Errors
    /// There is not.
    pub(super) fn check(&self, plan: &impl Planned, ranks: usize) -> Result<(), Failure> {
        has_room(&self.target, ranks, &Task::of(plan).class(Exit::Defect)?)
    }

    /// Measures `plan` with `ranks` ranks on the target. What `assemble` makes of the batches, or the
    /// batches alone, is printed and kept, whatever happens.
    ///
    /// # Errors
    /// Ranks could not be started, or results not be written.
    pub(super) fn measure(
        &mut self,
        plan: &impl Planned,
        ranks: usize,
        assemble: impl FnOnce(&Setting, &Table) -> Assembled,
    ) -> Result<(), Failure> {
        self.measure_beside(&[], |_| false, plan, ranks, assemble)
    }

    /// The same, with the floors that these results are compared with; measured are those that `fits` says the plan has
    /// something like.
    ///
    /// # Errors
    /// As [`Session::measure`].
    pub(super) fn measure_beside(
        &mut self,
        results: &[&str],
        fits: impl Fn(&Beside) -> bool,
        plan: &impl Planned,
        ranks: usize,
        assemble: impl FnOnce(&Setting, &Table) -> Assembled,
    ) -> Result<(), Failure> {
        let target = self.target.clone();
        let beside = match &target {
            Target::Real(transport) => transport.beside(results),
            Target::Simulated(_) => Vec::new(),
        };
        let measured = beside.iter().filter(|floor| ranks >= RANKS && fits(floor));
        let task = Task::of(plan).class(Exit::Defect)?.with_floors(measured.cloned().collect());
        let collected = self.collect_task(&task, Some(&target), ranks)?;
        let setting = Setting { beside, ..collected.setting(&self.stage, &target, ranks) };
        let table = &collected.table;
        let assembled = match table.is_empty() {
            true => Err(AssembleError::Empty),
            false => assemble(&setting, table),
        };
        self.end(&collected, ranks);
        match assembled {
            Ok((results, warnings)) => {
                for warning in warnings {
                    self.note(Exit::Missing);
                    self.sink.warn(&warning);
                }
                self.add(results)?;
            }
            // How it ended says it all.
            Err(_) if collected.launches == 0 => {}
            Err(reason) => {
                self.note(Exit::Missing);
                let what = match collected.ended {
                    Ended::Interrupted => "interrupted before enough was measured",
                    Ended::Done | Ended::Failed(_) => "too little was measured to fit",
                };
                self.sink.warn(&format!("{what}: {reason}"));
                if !table.is_empty() {
                    self.add(vec![unfitted_alone(&setting, table, &reason).into()])?;
                }
            }
        }
        Ok(())
    }

    /// Keeps and prints results, and takes note of their verdict.
    ///
    /// # Errors
    /// They cannot be kept; the exit code is that of the gravest outcome so far.
    pub(super) fn add(&mut self, results: Vec<Outcome>) -> Result<(), Failure> {
        self.add_below("", results)
    }

    /// The same, printed below this text.
    ///
    /// # Errors
    /// As [`Session::add`].
    pub(super) fn add_below(&mut self, text: &str, results: Vec<Outcome>) -> Result<(), Failure> {
        let added = self.sink.add_below(text, results);
        let exit = added.map_err(|failure| self.graver(failure))?;
        self.note(exit);
        Ok(())
    }

    /// The failure with the code of the gravest outcome so far.
    fn graver(&self, failure: Failure) -> Failure {
        Failure { exit: failure.exit.max(self.exit), ..failure }
    }

    /// Collects the batches of `plan` on one target; on all transports, with their floors, where
    /// there is none.
    ///
    /// # Errors
    /// Ranks could not be started.
    pub(super) fn collect(
        &mut self,
        plan: &impl Planned,
        target: Option<&Target>,
        ranks: usize,
    ) -> Result<Collected, Failure> {
        self.collect_task(&Task::of(plan).class(Exit::Defect)?, target, ranks)
    }

    fn collect_task(
        &mut self,
        task: &Task,
        target: Option<&Target>,
        ranks: usize,
    ) -> Result<Collected, Failure> {
        // What is traced is beside what the run is for.
        if self.trace.is_none() {
            self.sink.plan(task);
        }
        if let Some(Target::Simulated(_)) = target {
            for unused in unused_in_virtual_time(self.measure) {
                self.sink.warn_once(&unused);
            }
        }
        if self.measure.udp_faults.is_some() {
            let what = "datagrams go wrong on purpose (--udp-faults): no time here is udp's own";
            self.sink.warn_once(what);
        }
        self.sink.tell();
        let title = target.map_or_else(|| "floor".to_owned(), Target::to_string);
        let progress = Progress::new(&title, self.output.quiet);
        let mut show = |done: f64, doing: &str| progress.show(done, doing);
        let options = match self.trace.clone() {
            None => self.measure.options(),
            trace => Options { trace, launches: 1, ..self.measure.options() },
        };
        let collected = match collect(&self.stage, target, ranks, task, &options, &mut show) {
            Ok(collected) => collected,
            // What was measured before it is whole.
            Err(failure) if !self.sink.run.results.is_empty() => Collected::nothing(failure),
            Err(failure) => return Err(failure),
        };
        drop(progress);
        if let Some(placement) = &collected.placement {
            self.cpus.extend(&placement.cpus);
            self.sink.host(self.host.get_or_insert_with(|| Host::of(&self.stage)));
        }
        Ok(collected)
    }

    /// Takes note of the conditions under which was measured, and of how it ended.
    pub(super) fn end(&mut self, collected: &Collected, ranks: usize) {
        if collected.placement.is_some() && self.measure.wait == Wait::Block {
            self.sink.warn_once("ranks sleep while they wait: placement states are not probed");
        }
        if let Some(placement) = &collected.placement
            && placement.oversubscribed
        {
            let mut cpus = placement.cpus.clone();
            cpus.sort_unstable();
            cpus.dedup();
            self.sink.warn_once(&format!(
                "oversubscribed: {ranks} ranks share {}{}; times include scheduling, and placement states are \
                 not probed",
                counted(cpus.len(), "processor"),
                while_they_wait(self.measure.wait)
            ));
        }
        match &collected.ended {
            Ended::Done => {}
            Ended::Interrupted => {
                self.sink.run.interrupted = true;
                self.note(Exit::Interrupted);
            }
            Ended::Failed(failure) => {
                self.sink.failed(&failure.to_string());
                self.note(failure.exit);
            }
        }
    }

    /// Takes note of an outcome: the gravest becomes the exit code.
    pub(super) fn note(&mut self, exit: Exit) {
        self.exit = self.exit.max(exit);
    }

    /// Whether something went wrong that is worse than missing results.
    pub(super) fn failed(&self) -> bool {
        self.exit > Exit::Missing
    }

    /// Writes everything. Whether results are precise is a verdict for those who ask for it.
    ///
    /// # Errors
    /// The run cannot be written.
    pub(super) fn close(self) -> Result<Exit, Failure> {
        let exit = self.output.judged(self.exit);
        self.close_with(exit)
    }

    /// The same with this verdict, unless something went wrong that is worse.
    ///
    /// # Errors
    /// As [`Session::close`].
    pub(super) fn close_with(mut self, exit: Exit) -> Result<Exit, Failure> {
        let exit = if self.failed() { exit.max(self.exit) } else { exit };
        // All that was measured is kept by now; who waits for the end of a run that failed waits for no more.
        if let Some(mut host) = self.host.take().filter(|_| !self.failed()) {
            host.noise = noise(&self.stage, self.cpus.iter().copied(), GLANCE);
            self.sink.host(&host);
        }
        let Self { stage, sink, .. } = self;
        // A signal may have come when everything was measured: the run is then whole.
        let judged =
            |exit: Exit| if stage.signalled() { exit.max(Exit::Interrupted) } else { exit };
        match sink.close(exit) {
            Ok(exit) => Ok(judged(exit)),
            Err(failure) => Err(Failure { exit: judged(exit.max(failure.exit)), ..failure }),
        }
    }
}

/// `1 rank`, `2 ranks`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Options that change nothing in virtual time.
fn unused_in_virtual_time(measure: &Measure) -> Vec<String> {
    let waits = measure.wait != Wait::Auto;
    let given = [
        (waits, "--wait", "no rank waits on a processor"),
        (measure.cores.is_some(), "--cores", "ranks have no processors"),
    ];
    let given = given.into_iter().filter(|(is_given, ..)| *is_given);
    given
        .map(|(_, option, why)| format!("{option} changes nothing: in virtual time {why}"))
        .collect()
}

/// The one number of ranks that the options name.
///
/// # Errors
/// They name several.
pub(super) fn one_size(measure: &Measure, least: usize) -> Result<usize, Failure> {
    match measure.ranks.as_slice() {
        [] => Ok(least),
        [ranks] => Ok(*ranks),
        several => {
            let several: Vec<String> = several.iter().map(usize::to_string).collect();
            let what = format!("measure with {} ranks in one run", several.join(", "));
            let hint = "give one number; series of all ranks, such as comms3, take several";
            Err(Failure::new(Exit::Usage, what).hint(hint))
        }
    }
}

/// What ranks that share a processor do while they wait, as an addition.
fn while_they_wait(wait: Wait) -> &'static str {
    match wait {
        Wait::Auto | Wait::Yield => ", so those that wait yield",
        Wait::Spin => ", and those that wait keep others from running (--wait spin)",
        Wait::Block => "",
    }
}

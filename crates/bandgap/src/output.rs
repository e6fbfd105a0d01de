//! Where results go: standard output, the run's directory, JSON.

pub mod journal;
mod json;
mod streams;

use std::path::Path;
use std::time::{Instant, SystemTime};

use bandgap_assemble::{Made, SAMPLES, samples};
use bandgap_campaign::Measurements;
use bandgap_host::Description;
use bandgap_host::machine::Machine;
use bandgap_launch::{Agent, Classify, Exit, Failure, Result, limit, told};
use bandgap_record::{
    Bandgap, Conditions, ExperimentSetup, MachineSetup, Note, Number, RecordError, RunDir, Setup,
    timestamp,
};
use bandgap_report::{Block, Layout, text};
pub use bandgap_results::counted;
use bandgap_results::{REPORT, Run, Verdict, View, detail, page, screen, words, write_all};
use serde::Serialize;
use serde_json::json;

use crate::args::limits::Limits;
use crate::args::{Axes, Output, Precision, Shown};
use crate::layout::layout;
use journal::{Earlier, Journal};
pub use json::{JsonFile, unwritten};
pub use streams::{print, printed, tell, tell_failure};

/// The default directory of runs.
pub const RUNS: &str = "bandgap-runs";

/// Takes and keeps results, and prints one screen of them at the end.
pub struct Sink {
    /// The run so far.
    pub run: Run,
    /// What is asked of its values.
    pub limits: Limits,
    /// The killed run whose measurements this one takes.
    pub earlier: Option<Earlier>,
    begun: Instant,
    /// What is measured goes here at once.
    pub journal: Option<Journal>,
    directory: Option<RunDir>,
    json: Option<Json>,
    shown: Shown,
    quiet: bool,
    layout: Layout,
    tables: Vec<(String, Measurements)>,
    said: Vec<Block>,
}

enum Json {
    Standard,
    File(JsonFile),
}

impl Sink {
    /// Checks, before anything is measured, that results can be written.
    ///
    /// # Errors
    /// The directory is not empty, or something cannot be written.
    pub fn open(output: &Output, command: &str, seed: u64) -> Result<Self> {
        let now = SystemTime::now();
        let earlier = output.take_up.as_deref().map(Earlier::read).transpose()?;
        let directory = match (output.take_up.as_ref().or(output.out.as_ref()), output.no_save) {
            (Some(path), _) if earlier.is_some() => Some(RunDir::take_up(path)),
            (Some(path), _) => Some(RunDir::create(path)),
            (None, true) => None,
            (None, false) => Some(RunDir::create_in(Path::new(RUNS), command, now)),
        };
        let directory = directory.transpose().map_err(unwritable)?;
        let journal = directory.as_ref().filter(|_| earlier.is_none());
        let journal = journal.map(RunDir::journal).transpose().map_err(unwritable)?;
        let journal = journal.map(Journal::to);
        let json = match output.json.as_deref().filter(|_| earlier.is_none()) {
            None => None,
            Some(path) if path == Path::new("-") => Some(Json::Standard),
            Some(path) => Some(Json::File(JsonFile::open(path)?)),
        };
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
        let build = format!("{}-{} {profile}", std::env::consts::ARCH, std::env::consts::OS);
        let mut run = Run {
            bandgap: Bandgap {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                revision: option_env!("BANDGAP_REVISION").map(str::to_owned),
            },
            command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            started: timestamp(now),
            elapsed: Number(0.0),
            seed,
            interrupted: false,
            setup: Setup {
                machine: MachineSetup { build, ..MachineSetup::default() },
                of: Vec::new(),
            },
            host: serde_json::Value::Null,
            hosts: Vec::new(),
            plan: serde_json::Value::Null,
            conditions: Vec::new(),
            results: Vec::new(),
            notes: Vec::new(),
        };
        if let Some(Earlier { head, .. }) = &earlier {
            (run.command, run.started) = (head.command.clone(), head.started.clone());
            (run.setup.machine, run.host) = (head.machine.clone(), head.host.clone());
            run.hosts = head.hosts.clone();
        }
        let (shown, quiet) = (output.shown, output.quiet);
        let (begun, layout, tables, said) = (Instant::now(), layout(), Vec::new(), Vec::new());
        Ok(Self {
            run,
            limits: Limits::default(),
            earlier,
            begun,
            journal,
            directory,
            json,
            shown,
            quiet,
            layout,
            tables,
            said,
        })
    }

    /// Records a plan. Several plans become a list.
    pub fn plan(&mut self, plan: &impl Serialize) {
        let plan = serde_json::to_value(plan).unwrap_or_default();
        match &mut self.run.plan {
            serde_json::Value::Null => self.run.plan = plan,
            serde_json::Value::Array(all) => all.push(plan),
            one => self.run.plan = serde_json::Value::Array(vec![one.take(), plan]),
        }
    }

    /// Prints these blocks at the end instead of results, for commands that do not measure.
    pub fn say(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.said.extend(blocks);
    }

    /// Records the machine.
    pub fn host(&mut self, host: &Machine) {
        self.described(host);
        let Description { host_name, cpu_model, governor, topology, .. } = &host.description;
        let machine = &mut self.run.setup.machine;
        machine.hosts = host_name.iter().cloned().collect();
        machine.cores = topology.as_ref().map(|of| of.cores as u64);
        (machine.processor, machine.governor) = (cpu_model.clone(), governor.clone());
    }

    /// Records a command's description of the machine.
    pub fn described(&mut self, host: &impl Serialize) {
        self.run.host = serde_json::to_value(host).unwrap_or_default();
    }

    /// Records the set-up of experiments.
    pub fn setup(&mut self, of: Vec<ExperimentSetup>) {
        self.run.setup.of.extend(of);
    }

    /// Records the hosts of the ranks.
    pub fn hosts(&mut self, agents: &[Agent]) {
        let of = |agent: &Agent| {
            let mut of = agent.hello.machine.clone();
            of["name"] = agent.host.as_str().into();
            of["network"] = agent.network.clone().into();
            of
        };
        self.run.hosts = agents.iter().map(of).collect();
        if !agents.is_empty() {
            self.run.setup.machine.hosts = agents.iter().map(|agent| agent.host.clone()).collect();
        }
    }

    /// Records a note, once.
    pub fn note(&mut self, note: Note) {
        if !self.run.notes.contains(&note) {
            self.run.notes.push(note);
        }
    }

    /// Records what ended the run early, and prints it at once, even with `--quiet`.
    pub fn failed(&mut self, what: &str) {
        tell(format_args!("bandgap: {what}"));
        self.note(Note::new("failed", "").with("what", what));
        self.run.interrupted = true;
    }

    /// Keeps results, with the conditions and samples they come from.
    ///
    /// # Errors
    /// The run cannot be kept.
    pub fn add(&mut self, made: Made, measured: Option<(Conditions, Measurements)>) -> Result<()> {
        self.run.results.extend(made.results);
        made.notes.into_iter().for_each(|note| self.note(note));
        if let Some((found, table)) = measured {
            let transport = found.transport.clone();
            match self.run.conditions.iter_mut().find(|of| of.transport == transport) {
                Some(known) => *known = std::mem::take(known).and(&found),
                None => self.run.conditions.push(found),
            }
            self.tables.push((transport, table));
        }
        // Until the end the kept run counts as interrupted, in case this process dies.
        let interrupted = std::mem::replace(&mut self.run.interrupted, true);
        let kept = self.keep(false);
        self.run.interrupted = interrupted;
        kept
    }

    /// Keeps everything, prints one screen of it, and tells where it is kept.
    ///
    /// # Errors
    /// The run can be neither kept nor printed.
    pub fn close(mut self, exit: Exit) -> Result<Exit> {
        if let Some(what) = self.journal.as_ref().and_then(Journal::failed) {
            self.note(Note::new("journal_failed", "").with("what", what));
        }
        let judged = self.limits.judge(&mut self.run);
        let exit = exit.max(judged.as_ref().map_or_else(|failure| failure.exit, |exit| *exit));
        let kept = self.keep(true);
        if let (Some(_), Some(directory)) = (&self.earlier, &mut self.directory) {
            kept.map(|()| directory.finish())?;
            return Ok(exit);
        }
        let printed = match &self.json {
            Some(Json::Standard) => print(self.run.to_json().class(Exit::Defect)?.as_bytes()),
            _ => self.show(),
        };
        kept?;
        let exit = match printed {
            Err(failure) if self.is_kept() => {
                tell_failure(&failure);
                exit.max(failure.exit)
            }
            Err(failure) => return Err(self.rescued(failure)),
            Ok(()) => exit,
        };
        tell_why(exit, &self.run);
        judged.map(|_| exit).map_err(|failure| Failure { exit, ..failure })
    }

    /// Prints the run; the last line tells where it is kept.
    fn show(&self) -> Result<()> {
        if !self.said.is_empty() {
            return print(text(&self.said, &self.layout).as_bytes());
        }
        if self.run.results.is_empty() {
            // What ended it was told at once.
            let notes = self.run.notes.iter().filter(|note| note.code != "failed");
            notes.for_each(|note| tell(format_args!("bandgap: {}", words(note))));
            return Ok(());
        }
        let kept = self.directory.as_ref().map(|of| of.path().display().to_string());
        // A run in the default directory is the newest one there.
        let run = kept.as_deref().map(|of| if of.starts_with(RUNS) { "LAST" } else { of });
        let mut blocks = blocks(&self.run, self.shown, run);
        blocks.retain(|block| !(self.quiet && matches!(block, Block::Doubt { .. })));
        blocks.extend(kept.map(|of| Block::Text(format!("kept: {of}"))));
        print(text(&blocks, &self.layout).as_bytes())
    }

    fn is_kept(&self) -> bool {
        self.directory.is_some() || matches!(&self.json, Some(Json::File(file)) if file.replaced)
    }

    /// Writes the run's files as of now. A pipe gets only the last JSON.
    ///
    /// # Errors
    /// A file cannot be written. The hint then names another place that holds the run.
    fn keep(&mut self, last: bool) -> Result<()> {
        let own = || self.begun.elapsed().as_secs_f64();
        let elapsed = self.earlier.as_ref().map_or_else(own, |of| of.elapsed);
        self.run.elapsed = Number((elapsed * 10.0).round() / 10.0);
        // A place of its own is only for what was measured.
        let is_empty =
            self.run.results.is_empty() && self.tables.is_empty() && self.said.is_empty();
        let directory = self.directory.as_ref();
        if let Some(directory) = directory.filter(|of| !(is_empty && of.path().starts_with(RUNS))) {
            let again = |error| match &self.journal {
                Some(journal) => {
                    journal.clear();
                    self.write(directory)
                }
                None => Err(error),
            };
            let written = self.write(directory).or_else(again);
            written.map_err(|error| self.rescued(unwritable(error)))?;
        }
        match &self.json {
            Some(Json::File(file)) if last || file.replaced => {
                let json = self.run.to_json().class(Exit::Defect)?;
                file.write(json.as_bytes()).map_err(|failure| match &self.directory {
                    Some(directory) => kept_in(failure, directory.path()),
                    None => self.rescued(failure),
                })
            }
            _ => Ok(()),
        }
    }

    fn write(&self, directory: &RunDir) -> Result<(), RecordError> {
        let linear = self.shown.axes == Axes::Linear;
        write_all(directory, &self.run, View { linear, ..View::default() })?;
        if !self.tables.is_empty() {
            let tables = self.tables.iter().map(|(transport, table)| (transport.as_str(), table));
            let path = directory.path().join(SAMPLES);
            let packed = samples(tables).map_err(|source| RecordError::Io {
                action: "compress",
                path,
                source,
            })?;
            directory.write(SAMPLES, &packed)?;
        }
        // What it is made of is whole.
        directory.write(REPORT, page(&self.run).as_bytes()).map(|_| ())
    }

    /// Writes a measured run to the directory for temporary files after a failure, and adds a hint where it is.
    fn rescued(&self, failure: Failure) -> Failure {
        if self.tables.is_empty() {
            return failure;
        }
        let rescue = RunDir::create_in(&std::env::temp_dir(), "bandgap", SystemTime::now())
            .and_then(|place| self.write(&place).map(|()| place));
        match rescue {
            Ok(place) => kept_in(failure, place.path()),
            Err(error) => failure.hint(format!("nothing is kept: {error}")),
        }
    }
}

/// Prints results that need no measurement; keeps files only if `--out` asks for them.
///
/// # Errors
/// The results cannot be written.
pub fn close_given(
    command: &str,
    (precision, output): (&Precision, &Output),
    made: Made,
    exit: Exit,
) -> Result<Exit> {
    let mut sink = Sink::open(&output.only_asked(), command, precision.seed)?;
    let Precision { precision: share, confidence, limits, .. } = precision;
    sink.limits = limits.clone();
    sink.plan(&json!({"name": command, "precision": share.0, "confidence": confidence.0}));
    sink.add(made, None)?;
    sink.close(exit)
}

/// The printed form of a run.
pub fn blocks(run: &Run, shown: Shown, kept: Option<&str>) -> Vec<Block> {
    let view = View { plot: shown.plot, linear: shown.axes == Axes::Linear, kept };
    if shown.verbose { detail(run, view) } else { screen(run, view) }
}

/// Most names of values to print.
const NAMED: usize = 5;

/// Tells why the exit code is 1, even with `--quiet`, unless the command itself has told.
pub fn tell_why(exit: Exit, run: &Run) {
    let Verdict { negative, doubtful, .. } = Verdict::of(run);
    let all = if negative.is_empty() { doubtful } else { negative };
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    if exit == Exit::Doubtful && !all.is_empty() {
        let named = all.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
        tell(format_args!("bandgap: exit 1: {named}{more}"));
    }
}

fn kept_in(failure: Failure, path: &Path) -> Failure {
    failure.hint(format!("the run is kept in {}", path.display()))
}

fn unwritable(error: RecordError) -> Failure {
    let advice = limit(&error).unwrap_or("name another directory with --out, or use --no-save");
    Failure::new(Exit::Output, told(&error)).hint(advice)
}

//! Where results go: standard output, the run's directory, JSON.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bandgap_record::{
    Bandgap, Logp, Outcome, Run, RunDir, Series, samples_csv, series_csv, series_samples_csv,
    signature_csv, surface_csv, timestamp,
};
use bandgap_report::{self as report, Layout};
use serde::Serialize;

use crate::args::{Measure, Output};
use crate::exit::Exit;
use crate::failure::{Classify, Failure, told};
use crate::show;

/// Directory of runs that were given none.
const RUNS: &str = "bandgap-runs";

/// Takes results as they come, prints them, and keeps them after each.
pub struct Sink {
    run: Run,
    directory: Option<RunDir>,
    _made: Made,
    json: Option<Json>,
    quiet: bool,
    summary: bool,
    layout: Layout,
}

enum Json {
    Standard,
    File(PathBuf, File),
}

impl Sink {
    /// Makes sure, before anything is measured, that results can be written.
    ///
    /// # Errors
    /// The directory exists and holds something, or something cannot be written.
    pub fn open(output: &Output, command: &str, measure: &Measure) -> Result<Self, Failure> {
        let now = SystemTime::now();
        let wanted = output.out.as_deref().or((!output.no_save).then_some(Path::new(RUNS)));
        let mut made = Made::before(wanted);
        let directory = match (&output.out, output.no_save) {
            (Some(path), _) => Some(RunDir::create(path).map_err(unwritable)?),
            (None, true) => None,
            (None, false) => {
                Some(RunDir::create_in(Path::new(RUNS), command, now).map_err(unwritable)?)
            }
        };
        if output.out.is_none() {
            made.0.splice(0..0, directory.iter().map(|directory| directory.path().to_owned()));
        }
        let json = match output.json.as_deref() {
            None => None,
            Some(path) if path == Path::new("-") => Some(Json::Standard),
            Some(path) => {
                let file = File::create(path).map_err(|error| {
                    Failure::new(Exit::Output, format!("write {}: {error}", path.display()))
                        .hint("name a file in a directory that exists and is writable")
                })?;
                Some(Json::File(path.to_owned(), file))
            }
        };
        let run = Run {
            bandgap: Bandgap {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                revision: option_env!("BANDGAP_REVISION").map(str::to_owned),
            },
            command: std::env::args().collect(),
            started: timestamp(now),
            seed: measure.seed,
            interrupted: false,
            host: serde_json::Value::Null,
            plan: serde_json::Value::Null,
            results: Vec::new(),
            warnings: Vec::new(),
        };
        let layout = show::layout(measure.confidence.0);
        Ok(Self { run, directory, _made: made, json, quiet: output.quiet, summary: false, layout })
    }

    /// Records what was planned.
    pub fn plan(&mut self, plan: &impl Serialize) {
        self.run.plan = serde_json::to_value(plan).unwrap_or_default();
    }

    /// Records the machine.
    pub fn host(&mut self, host: &impl Serialize) {
        self.run.host = serde_json::to_value(host).unwrap_or_default();
    }

    /// Ends with one table over all signatures.
    pub fn summarise_at_end(&mut self) {
        self.summary = true;
    }

    /// Notes that the run did not finish.
    pub fn interrupted(&mut self) {
        self.run.interrupted = true;
    }

    /// Warns on standard error, and in the record.
    pub fn warn(&mut self, warning: &str) {
        if !self.quiet {
            eprintln!("bandgap: warning: {warning}");
        }
        self.run.warnings.push(warning.to_owned());
    }

    /// Says what ended the run early, whoever wants quiet, and records it.
    pub fn failed(&mut self, what: &str) {
        eprintln!("bandgap: {what}");
        self.run.warnings.push(what.to_owned());
        self.run.interrupted = true;
    }

    /// Prints a result, and keeps the run as it is now.
    ///
    /// # Errors
    /// The run cannot be written.
    pub fn add(&mut self, result: Outcome) -> Result<Exit, Failure> {
        self.add_all(vec![result])
    }

    /// The same for results that belong together.
    ///
    /// # Errors
    /// The run cannot be written.
    pub fn add_all(&mut self, results: Vec<Outcome>) -> Result<Exit, Failure> {
        self.say(&show::results(&results, &self.layout))?;
        let findings = results.iter().any(has_findings);
        self.run.results.extend(results);
        self.keep()?;
        Ok(if findings { Exit::Findings } else { Exit::Fine })
    }

    /// Prints a text among the results.
    ///
    /// # Errors
    /// Standard output is closed in another way than by a reader that has read enough.
    pub fn say(&self, text: &str) -> Result<(), Failure> {
        if matches!(self.json, Some(Json::Standard)) {
            return Ok(());
        }
        match write!(std::io::stdout().lock(), "{text}") {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::new(Exit::Output, format!("write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// How text is laid out.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Writes everything and says where it is.
    ///
    /// # Errors
    /// The run cannot be written.
    pub fn close(mut self, exit: Exit) -> Result<Exit, Failure> {
        if self.summary && self.run.results.len() > 1 {
            let signatures: Vec<&Logp> =
                self.run.results.iter().filter_map(small_messages).collect();
            self.say(&report::summary(&signatures, &self.layout))?;
        }
        self.keep()?;
        if let Some(json) = self.json.take() {
            let text = self.run.to_json().class(Exit::Defect)?;
            match json {
                Json::Standard => match std::io::stdout().lock().write_all(text.as_bytes()) {
                    Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                        return Err(Failure::new(
                            Exit::Output,
                            format!("write to standard output: {error}"),
                        ));
                    }
                    _ => {}
                },
                Json::File(path, mut file) => file.write_all(text.as_bytes()).map_err(|error| {
                    Failure::new(Exit::Output, format!("write {}: {error}", path.display()))
                })?,
            }
        }
        if let Some(directory) = &self.directory
            && !self.quiet
        {
            eprintln!("kept in {}", directory.path().display());
        }
        Ok(exit)
    }

    /// Writes the run's files as they are now. Where the directory does not take them, another
    /// place is tried, so that nothing measured is lost.
    fn keep(&self) -> Result<(), Failure> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let Err(failure) = write_all(directory, &self.run, self.summary) else { return Ok(()) };
        let elsewhere = RunDir::create_in(&std::env::temp_dir(), "bandgap", SystemTime::now())
            .map_err(unwritable)
            .and_then(|rescue| write_all(&rescue, &self.run, self.summary).map(|()| rescue));
        Err(match elsewhere {
            Ok(rescue) => failure.hint(format!("the run is kept in {}", rescue.path().display())),
            Err(_) => failure,
        })
    }
}

/// Directories made for a run, the innermost first; removed again if nothing was kept in them.
struct Made(Vec<PathBuf>);

impl Made {
    /// Those that `path` needs and that are not there yet.
    fn before(path: Option<&Path>) -> Self {
        let ancestors = path.into_iter().flat_map(Path::ancestors);
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        Self(ancestors.take_while(missing).map(Path::to_owned).collect())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // A directory that holds something is not removed this way.
        let _ = self.0.iter().try_for_each(std::fs::remove_dir);
    }
}

/// `several`: more than one signature is to come, so each file names its transport from the first.
fn write_all(directory: &RunDir, run: &Run, several: bool) -> Result<(), Failure> {
    directory.write_run(run).map_err(unwritable)?;
    write_series(directory, run)?;
    write_surfaces(directory, run)?;
    let signatures: Vec<&Logp> = run.results.iter().filter_map(small_messages).collect();
    if signatures.is_empty() {
        return Ok(());
    }
    let mut table = Vec::new();
    signature_csv(&mut table, signatures.iter().copied()).map_err(unwritable)?;
    directory.write("signature.csv", &table).map_err(unwritable)?;
    for signature in &signatures {
        let suffix = if several || signatures.len() > 1 {
            format!("-{}", file_name(&signature.transport))
        } else {
            String::new()
        };
        let mut samples = Vec::new();
        samples_csv(&mut samples, signature).map_err(unwritable)?;
        directory.write(&format!("samples{suffix}.csv"), &samples).map_err(unwritable)?;
        let figure = report::signature_figure(signature);
        let svg = report::svg(&figure);
        directory.write(&format!("signature{suffix}.svg"), svg.as_bytes()).map_err(unwritable)?;
    }
    Ok(())
}

/// The files of series: one table of all, and a picture and the samples of each.
fn write_series(directory: &RunDir, run: &Run) -> Result<(), Failure> {
    let all: Vec<&Series> = run.results.iter().filter_map(series).collect();
    if all.is_empty() {
        return Ok(());
    }
    let mut table = Vec::new();
    series_csv(&mut table, all.iter().copied()).map_err(unwritable)?;
    directory.write("series.csv", &table).map_err(unwritable)?;
    for one in &all {
        let suffix = match all.as_slice() {
            [_] => String::new(),
            _ => format!("-{}-{}", file_name(&one.name), file_name(&one.transport)),
        };
        let mut samples = Vec::new();
        series_samples_csv(&mut samples, one).map_err(unwritable)?;
        directory.write(&format!("samples{suffix}.csv"), &samples).map_err(unwritable)?;
        let fits = show::fits_of(&run.results, &one.name, &one.transport);
        let figures = report::series_figures(one, &fits);
        if !figures.is_empty() {
            let svg = report::svg_panels(&figures);
            directory.write(&format!("series{suffix}.svg"), svg.as_bytes()).map_err(unwritable)?;
        }
    }
    Ok(())
}

/// The files of signatures of transfers: one table of all and a picture for stores and gets, and
/// the samples of each length.
fn write_surfaces(directory: &RunDir, run: &Run) -> Result<(), Failure> {
    let all: Vec<&Logp> = run.results.iter().filter_map(transfers).collect();
    if all.is_empty() {
        return Ok(());
    }
    let mut table = Vec::new();
    surface_csv(&mut table, all.iter().copied()).map_err(unwritable)?;
    directory.write("surface.csv", &table).map_err(unwritable)?;
    let panels: Vec<report::Figure> =
        show::surfaces(&all).iter().map(|surface| report::surface_figure(surface)).collect();
    let svg = report::svg_panels(&panels);
    directory.write("surface.svg", svg.as_bytes()).map_err(unwritable)?;
    for one in all {
        let mut samples = Vec::new();
        samples_csv(&mut samples, one).map_err(unwritable)?;
        let name = format!("samples-{}-{}.csv", one.name, one.bytes.unwrap_or(0));
        directory.write(&name, &samples).map_err(unwritable)?;
    }
    Ok(())
}

fn series(result: &Outcome) -> Option<&Series> {
    match result {
        Outcome::Series(series) => Some(series),
        _ => None,
    }
}

/// A transport's name without what a file name cannot have.
fn file_name(transport: &str) -> String {
    transport.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

fn logp(result: &Outcome) -> Option<&Logp> {
    match result {
        Outcome::Logp(logp) => Some(logp),
        _ => None,
    }
}

/// A signature of small messages.
fn small_messages(result: &Outcome) -> Option<&Logp> {
    logp(result).filter(|logp| !logp.is_of_transfers())
}

/// A signature of transfers.
pub fn transfers(result: &Outcome) -> Option<&Logp> {
    logp(result).filter(|logp| logp.is_of_transfers())
}

/// Whether a result holds something that the user should act on.
fn has_findings(result: &Outcome) -> bool {
    match result {
        Outcome::Logp(logp) => {
            let p = &logp.parameters;
            // Of a surface's many points some always scatter: its parameters count.
            !logp.is_of_transfers() && logp.points.iter().any(|point| !point.converged)
                || [&p.send_overhead, &p.recv_overhead, &p.gap, &p.rtt]
                    .iter()
                    .any(|q| q.as_ref().is_none_or(|q| !q.converged))
        }
        Outcome::Series(series) => series.points.iter().any(|point| !point.converged),
        Outcome::RttPairs(pairs) => pairs.pairs.iter().any(|pair| !pair.rtt.converged),
        Outcome::Contention(contention) => contention.rows.iter().any(|row| !row.gap.converged),
        Outcome::Floor(floor) => !floor.value.quantity().converged,
        _ => false,
    }
}

fn unwritable(error: bandgap_record::RecordError) -> Failure {
    Failure::new(Exit::Output, told(&error))
        .hint("name another directory with --out, or use --no-save")
}

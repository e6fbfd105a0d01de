//! Where results go: standard output, the run's directory, JSON.

mod json;
mod streams;

use std::path::Path;
use std::time::SystemTime;

use bandgap_launch::{Classify, Exit, Failure, limit, told};
use bandgap_record::{Bandgap, RunDir, timestamp};
use bandgap_report::{Layout, printable};
use bandgap_results::{Outcome, Run, Verdict, summary, text, verdict, write_all};
use serde::Serialize;

use crate::args::{Measure, Output};
use crate::layout::layout;
use json::JsonFile;
pub use streams::{print, printed, tell, tell_failure};

/// Directory of runs that were given none.
const RUNS: &str = "bandgap-runs";

/// Takes results as they come, keeps them, and then prints them.
pub struct Sink {
    /// The run so far.
    pub run: Run,
    directory: Option<RunDir>,
    json: Option<Json>,
    quiet: bool,
    /// What standard error has not been told yet.
    untold: Vec<String>,
    /// What makes the run doubtful so far.
    pub doubtful: Vec<String>,
    /// Whether one table over all signatures, or all kernels, comes at the end.
    pub summary: bool,
    /// Whether the results are measured here, and cannot be had again.
    pub measures: bool,
    /// How text is laid out.
    pub layout: Layout,
    /// Why nothing is printed any more.
    unprinted: Option<Failure>,
}

enum Json {
    Standard,
    File(JsonFile),
}

impl Sink {
    /// Makes sure, before anything is measured, that results can be written.
    ///
    /// # Errors
    /// The directory exists and holds something, or something cannot be written.
    pub fn open(output: &Output, command: &str, measure: &Measure) -> Result<Self, Failure> {
        let now = SystemTime::now();
        let directory = match (&output.out, output.no_save) {
            (Some(path), _) => Some(RunDir::create(path)),
            (None, true) => None,
            (None, false) => Some(RunDir::create_in(Path::new(RUNS), command, now)),
        };
        let directory = directory.transpose().map_err(unwritable)?;
        let json = match output.json.as_deref() {
            None => None,
            Some(path) if path == Path::new("-") => Some(Json::Standard),
            Some(path) => Some(Json::File(JsonFile::open(path)?)),
        };
        let run = Run {
            bandgap: Bandgap {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                revision: option_env!("BANDGAP_REVISION").map(str::to_owned),
            },
            command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            started: timestamp(now),
            seed: measure.seed,
            interrupted: false,
            host: serde_json::Value::Null,
            plan: serde_json::Value::Null,
            results: Vec::new(),
            warnings: Vec::new(),
        };
        Ok(Self {
            run,
            directory,
            json,
            quiet: output.quiet,
            untold: Vec::new(),
            doubtful: Vec::new(),
            summary: false,
            measures: false,
            layout: layout(measure.confidence.0),
            unprinted: None,
        })
    }

    /// Records what was planned.
    pub fn plan(&mut self, plan: &impl Serialize) {
        self.run.plan = serde_json::to_value(plan).unwrap_or_default();
    }

    /// Records the machine.
    pub fn host(&mut self, host: &impl Serialize) {
        self.run.host = serde_json::to_value(host).unwrap_or_default();
    }

    /// Warns of something that holds for the whole run, unless that was said.
    pub fn warn_once(&mut self, warning: &str) {
        if !self.run.warnings.iter().any(|known| known == warning) {
            self.warn(warning);
        }
    }

    /// Records a warning, which is told once everything until now is kept.
    pub fn warn(&mut self, warning: &str) {
        if !self.quiet {
            self.untold.push(format!("warning: {warning}"));
        }
        self.run.warnings.push(warning.to_owned());
    }

    /// Records what ended the run early, which is told likewise, whoever wants quiet.
    pub fn failed(&mut self, what: &str) {
        self.untold.push(what.to_owned());
        self.run.warnings.push(what.to_owned());
        self.run.interrupted = true;
    }

    /// Tells what was warned of.
    pub fn tell(&mut self) {
        self.untold.drain(..).for_each(|what| tell(format_args!("bandgap: {what}")));
    }

    /// Takes results that belong together: keeps the run as it is now, and then tells its warnings and prints the results.
    ///
    /// # Errors
    /// The run cannot be kept, or the results can be neither kept nor printed.
    pub fn add(&mut self, results: Vec<Outcome>) -> Result<Exit, Failure> {
        self.add_below("", results)
    }

    /// The same, printed below this text.
    ///
    /// # Errors
    /// As [`Sink::add`].
    pub fn add_below(&mut self, above: &str, results: Vec<Outcome>) -> Result<Exit, Failure> {
        let text = above.to_owned() + &text(&results, &self.layout);
        let exit = match verdict(&results) {
            Verdict::Good => Exit::Fine,
            Verdict::Doubtful(names) => {
                self.doubtful.extend(names);
                Exit::Doubtful
            }
            Verdict::Missing => Exit::Missing,
        };
        self.run.results.extend(results);
        // Until the end there is more to come, whatever becomes of this process.
        let interrupted = std::mem::replace(&mut self.run.interrupted, true);
        let kept = self.keep(false);
        self.run.interrupted = interrupted;
        self.tell();
        self.say(&text)?;
        kept.map(|()| exit)
    }

    /// Keeps everything, prints what comes at the end, and says where the run is.
    ///
    /// # Errors
    /// As [`Sink::add`].
    pub fn close(mut self, exit: Exit) -> Result<Exit, Failure> {
        let kept = self.keep(true);
        self.tell();
        if self.summary {
            self.say(&summary(&self.run.results, &self.layout))?;
        }
        if matches!(self.json, Some(Json::Standard)) {
            let json = self.run.to_json().class(Exit::Defect)?;
            print(json.as_bytes()).or_else(|failure| self.unprintable(failure))?;
        }
        kept?;
        if self.run.interrupted && !self.quiet {
            tell(format_args!("bandgap: ended early: results are of what was measured until then"));
        }
        if let Some(failure) = &self.unprinted {
            tell_failure(failure);
        }
        if let Some(directory) = self.directory.as_ref().filter(|_| !self.quiet) {
            tell(format_args!("kept in {}", directory.path().display()));
        }
        let exit = self.unprinted.map_or(exit, |failure| exit.max(failure.exit));
        // A code without its reason helps nobody, whoever wants quiet.
        if exit == Exit::Doubtful {
            let named: Vec<&str> = self.doubtful.iter().take(NAMED).map(String::as_str).collect();
            let more = match self.doubtful.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            tell(format_args!("bandgap: doubtful: {}{more}", named.join("; ")));
        }
        Ok(exit)
    }

    /// Prints a text among the results.
    ///
    /// # Errors
    /// Standard output fails, in another way than by a reader that has read enough, and nothing is kept.
    fn say(&mut self, text: &str) -> Result<(), Failure> {
        if matches!(self.json, Some(Json::Standard)) || self.unprinted.is_some() {
            return Ok(());
        }
        // Names in it may come from a file or a peer.
        print(printable(text).as_bytes()).or_else(|failure| self.unprintable(failure))
    }

    /// Standard output does not take what was printed. Where the run is kept, that is no reason to stop measuring: it is told
    /// at the end.
    ///
    /// # Errors
    /// Nothing else keeps the run.
    fn unprintable(&mut self, failure: Failure) -> Result<(), Failure> {
        let file = matches!(&self.json, Some(Json::File(file)) if file.replaced);
        if self.directory.is_some() || file {
            self.unprinted = Some(failure);
            return Ok(());
        }
        Err(self.rescued(failure))
    }

    /// Writes the run's files as they are now. What takes JSON only once gets the last one.
    ///
    /// # Errors
    /// One of them cannot be written. The run is then somewhere else, which the hint names.
    fn keep(&self, last: bool) -> Result<(), Failure> {
        if let Some(directory) = &self.directory {
            write_all(directory, &self.run, self.summary)
                .map_err(|error| self.rescued(unwritable(error)))?;
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

    /// Writes a run that cannot be measured again to a directory for temporary files, and says where it is beside what failed.
    fn rescued(&self, failure: Failure) -> Failure {
        if !self.measures || self.run.results.is_empty() {
            return failure;
        }
        let rescue = RunDir::create_in(&std::env::temp_dir(), "bandgap", SystemTime::now())
            .and_then(|place| write_all(&place, &self.run, self.summary).map(|()| place));
        match rescue {
            Ok(place) => kept_in(failure, place.path()),
            Err(error) => failure.hint(format!("nothing is kept: {error}")),
        }
    }
}

/// Names of what is doubtful that are told.
const NAMED: usize = 5;

fn kept_in(failure: Failure, path: &Path) -> Failure {
    failure.hint(format!("the run is kept in {}", path.display()))
}

fn unwritable(error: bandgap_record::RecordError) -> Failure {
    let advice = limit(&error).unwrap_or("name another directory with --out, or use --no-save");
    Failure::new(Exit::Output, told(&error)).hint(advice)
}

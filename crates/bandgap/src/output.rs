//! Where results go: standard output, the run's directory, JSON.

mod json;
mod refuges;
mod streams;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bandgap_launch::{Classify, Exit, Failure, limit, told};
use bandgap_record::{Bandgap, RunDir, timestamp};
use bandgap_report::{Layout, printable};
use bandgap_results::{Outcome, Run, Verdict, summary, text, verdict, write_all};
use serde::Serialize;

use crate::args::{Measure, Output};
use crate::layout::layout;
use json::JsonFile;
use refuges::refuges;
pub use streams::{error_has_room, print, printed, tell, tell_at_once, tell_failure};

/// Directory of runs that were given none.
const RUNS: &str = "bandgap-runs";

/// Takes results as they come, keeps them, and then prints them.
pub struct Sink {
    /// The run so far.
    pub run: Run,
    directory: Option<RunDir>,
    _made: Made,
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
    /// Why the text is not printed any more.
    unprinted: Option<Failure>,
    /// Why one of two places does not get the run any more.
    unwritten: Option<Failure>,
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
        let wanted = output.out.as_deref().or((!output.no_save).then_some(Path::new(RUNS)));
        let mut made = Made::before(wanted);
        let directory = match (&output.out, output.no_save) {
            (Some(path), _) => Some(RunDir::create(path)),
            (None, true) => None,
            (None, false) => Some(RunDir::create_in(Path::new(RUNS), command, now)),
        };
        let directory = directory.transpose().map_err(unwritable)?;
        if output.out.is_none() {
            made.0.splice(0..0, directory.iter().map(|directory| directory.path().to_owned()));
        }
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
        let layout = layout(measure.confidence.0);
        Ok(Self {
            run,
            directory,
            _made: made,
            json,
            quiet: output.quiet,
            untold: Vec::new(),
            doubtful: Vec::new(),
            summary: false,
            measures: false,
            layout,
            unprinted: None,
            unwritten: None,
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

    /// Tells what was warned of. To be called where nothing is left to be kept: nobody may read it.
    pub fn tell(&mut self) {
        for what in self.untold.drain(..) {
            tell(format_args!("bandgap: {what}"));
        }
    }

    /// Takes results that belong together: keeps the run as it is now, and then tells its warnings and prints the results.
    ///
    /// # Errors
    /// The run cannot be kept; or the results can be neither kept nor printed.
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
        // What cannot be kept is all the more to be seen. This is then the end.
        if kept.is_err() {
            self.print_json()?;
        }
        self.tell();
        self.say(&text)?;
        self.run.interrupted = interrupted;
        kept.map(|()| exit)
    }

    /// Prints a text among the results. Where these are kept, a standard output that fails is no reason to stop
    /// measuring: it is told at the end.
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

    /// Keeps everything, prints what comes at the end, and says where the run is.
    ///
    /// # Errors
    /// The run cannot be kept; or it can be neither kept nor printed.
    pub fn close(mut self, exit: Exit) -> Result<Exit, Failure> {
        let kept = self.keep(true);
        self.tell();
        if self.summary {
            self.say(&summary(&self.run.results, &self.layout))?;
        }
        self.print_json()?;
        kept?;
        if self.run.interrupted && !self.quiet {
            let printed = !matches!(self.json, Some(Json::Standard)) && self.unprinted.is_none();
            let kept = self.directory.is_some() || self.json.is_some();
            let batches = |result: &Outcome| matches!(result, Outcome::Batches(_));
            let any = self.run.results.iter().any(|result| !batches(result));
            let what = ended_early(any, printed, kept);
            tell(format_args!("bandgap: {what}"));
        }
        let failures = [&self.unprinted, &self.unwritten].into_iter().flatten();
        failures.clone().for_each(tell_failure);
        let exit = failures.map(|failure| failure.exit).fold(exit, Exit::max);
        if let Some(directory) = &self.directory
            && !self.quiet
        {
            tell(format_args!("kept in {}", directory.path().display()));
        }
        // A code without its reason helps nobody, whoever wants quiet.
        if exit == Exit::Doubtful
            && let Some(names) = first_few(&self.doubtful)
        {
            tell(format_args!("bandgap: doubtful: {names}"));
        }
        Ok(exit)
    }

    /// Prints the run as JSON, if that was asked for.
    fn print_json(&mut self) -> Result<(), Failure> {
        if matches!(self.json, Some(Json::Standard)) {
            let json = self.run.to_json().class(Exit::Defect)?;
            print(json.as_bytes()).or_else(|failure| self.unprintable(failure))?;
        }
        Ok(())
    }

    /// Standard output does not take what was printed.
    ///
    /// # Errors
    /// Nothing else keeps it. What was measured is written to a place for temporary files then.
    fn unprintable(&mut self, failure: Failure) -> Result<(), Failure> {
        match (self.keeps(), self.measures) {
            (true, _) => self.unprinted = Some(failure),
            (false, true) => return Err(self.rescued(failure)),
            (false, false) => return Err(failure),
        }
        Ok(())
    }

    /// Whether results are in a file by the time that they are printed.
    fn keeps(&self) -> bool {
        self.directory.is_some() || matches!(&self.json, Some(Json::File(file)) if file.keeps())
    }

    /// Writes the run's files as they are now. Where one of two places does not take them, the other does, and that
    /// is told at the end; if there is no other, places for temporary files are tried, so that nothing measured is
    /// lost. What takes JSON only once gets the last one.
    fn keep(&mut self, last: bool) -> Result<(), Failure> {
        let directory = self.directory.as_ref().map(|directory| {
            write_all(directory, &self.run, self.summary).map_err(unwritable)?;
            Ok(directory.path().to_owned())
        });
        let json = match &self.json {
            Some(Json::File(file)) if last || file.keeps() => {
                let text = self.run.to_json().class(Exit::Defect)?;
                Some(file.write(text.as_bytes()).map(|()| file.path().to_owned()))
            }
            _ => None,
        };
        match (directory, json) {
            (Some(Err(failure)), Some(Ok(path))) => {
                self.directory = None;
                self.unwritten = Some(kept_in(failure, &path));
                Ok(())
            }
            (Some(Ok(path)), Some(Err(failure))) => {
                self.json = None;
                self.unwritten = Some(kept_in(failure, &path));
                Ok(())
            }
            (Some(Err(failure)), _) | (None, Some(Err(failure))) => Err(self.rescued(failure)),
            (Some(Ok(_)) | None, Some(Ok(_)) | None) => Ok(()),
        }
    }

    /// Rescues the run, and says where it is beside what failed.
    fn rescued(&self, failure: Failure) -> Failure {
        match (self.rescue(), failure.hint.as_deref()) {
            (Some(path), _) => kept_in(failure, &path),
            (None, advice) => {
                let advice = advice.map(|advice| format!("; {advice}")).unwrap_or_default();
                let tried: Vec<_> = refuges().map(|place| place.display().to_string()).collect();
                let tried = tried.join(", ");
                failure.hint(format!(
                    "nothing is kept: it cannot be written to {tried} either{advice}"
                ))
            }
        }
    }

    /// Writes the run's files to the first place that takes them.
    fn rescue(&self) -> Option<PathBuf> {
        refuges().find_map(|place| {
            let at = RunDir::create_in(&place, "bandgap", SystemTime::now()).ok()?;
            let written = write_all(&at, &self.run, self.summary);
            if written.is_err() {
                // Half a run is none. Where there are no descriptors it is empty.
                let _ =
                    std::fs::remove_dir_all(at.path()).or_else(|_| std::fs::remove_dir(at.path()));
            }
            written.ok().map(|()| at.path().to_owned())
        })
    }
}

/// What there is of a run that ended early: whether it has results, whether these are printed as text, and
/// whether they are kept.
fn ended_early(any: bool, printed: bool, kept: bool) -> String {
    let what = match (any, printed) {
        (false, _) => "ended early, before a result",
        (true, false) => "ended early: the results are of what was measured until then",
        (true, true) => "ended early: the results above are of what was measured until then",
    };
    if kept {
        what.to_owned()
    } else {
        format!("{what}; nothing is kept, as no file was asked for")
    }
}

/// Names that are said; the others are counted.
const NAMED: usize = 5;

/// The first few of these names, and how many more there are; `None` of none. What several have in common, as in
/// `signature over shm: g`, stands once before them.
fn first_few(names: &[String]) -> Option<String> {
    let parted = |name: &'_ String| match name.split_once(": ") {
        Some((of, what)) => (of.to_owned(), what.to_owned()),
        None => (String::new(), name.clone()),
    };
    let said: Vec<(String, String)> = names.iter().take(NAMED).map(parted).collect();
    let group = |alike: &[(String, String)]| {
        let named: Vec<&str> = alike.iter().map(|(_, what)| what.as_str()).collect();
        match alike[0].0.as_str() {
            "" => named.join("; "),
            of => format!("{of}: {}", named.join(", ")),
        }
    };
    let said = said.chunk_by(|a, b| a.0 == b.0).map(group).collect::<Vec<_>>().join("; ");
    match names.len() {
        0 => None,
        1..=NAMED => Some(said),
        more => Some(format!("{said}; and {} more", more - NAMED)),
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

fn kept_in(failure: Failure, path: &Path) -> Failure {
    failure.hint(format!("the run is kept in {}", path.display()))
}

fn unwritable(error: bandgap_record::RecordError) -> Failure {
    let advice = limit(&error).unwrap_or("name another directory with --out, or use --no-save");
    Failure::new(Exit::Output, told(&error)).hint(advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_of_a_run_that_ended_early_is_said() {
        assert_eq!(
            ended_early(true, true, false),
            "ended early: the results above are of what was measured until then; nothing is kept, as no \
             file was asked for"
        );
        assert_eq!(ended_early(false, true, true), "ended early, before a result");
        assert!(!ended_early(true, false, true).contains("above"));
    }

    #[test]
    fn a_few_names_are_said_and_the_others_counted() {
        let of = |count: usize| {
            first_few(&(1..=count).map(|at| format!("g{at}")).collect::<Vec<String>>())
        };
        assert_eq!(of(0), None);
        assert_eq!(of(2).unwrap(), "g1; g2");
        assert_eq!(of(5).unwrap(), "g1; g2; g3; g4; g5");
        assert_eq!(of(7).unwrap(), "g1; g2; g3; g4; g5; and 2 more");
    }

    #[test]
    fn whose_values_they_are_is_said_once() {
        let names = ["signature over shm: g", "signature over shm: RTT", "comms1 over shm, 8 B"];
        let more = ["signature over tcp: os (not found)", "signature over tcp: g", "a: b"];
        let all: Vec<String> = names.iter().chain(&more).map(|name| (*name).to_owned()).collect();
        assert_eq!(
            first_few(&all).unwrap(),
            "signature over shm: g, RTT; comms1 over shm, 8 B; signature over tcp: os (not found), g; \
             and 1 more"
        );
    }
}

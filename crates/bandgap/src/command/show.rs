//! `bandgap show`: prints a kept run again.

use std::fs;
use std::path::{Path, PathBuf};

use bandgap_launch::{Classify as _, Exit, Failure, Result, input, usage};
use bandgap_record::{RUN_FILE, RunDir, read};
use bandgap_report::{Block, multiple, text};
use bandgap_results::{COMPARISON, LIMIT, Outcome, REPORT, Run, why, words};
use bandgap_units::significant_short;
use clap::Args;

use super::runs::listed;
use super::take_up;
use crate::args::Shown;
use crate::args::limits::{Limits, find};
use crate::layout::layout;
use crate::output::{RUNS, blocks, print, tell_why};

/// The run to show, and how much of it.
#[derive(Clone, Debug, Args)]
pub struct Show {
    /// A run's directory, its run.json, the beginning of a name below ./bandgap-runs, or LAST [default: a list of those below
    /// ./bandgap-runs]
    #[arg(value_name = "RUN")]
    pub run: Option<PathBuf>,
    /// Only these results: the beginnings of ids, e.g. logp/tcp
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Why values are in doubt, and what would help
    #[arg(long)]
    pub why: bool,
    /// Print only the number and the unit of each ID, or of the one that begins so
    #[arg(long, requires = "ids", conflicts_with_all = ["why", "verbose", "plot", "limit"])]
    pub value: bool,
    #[command(flatten)]
    pub limits: Limits,
    #[command(flatten)]
    pub shown: Shown,
}

/// Runs that a message names, at most.
const NEWEST: usize = 3;
/// The name of the newest run.
pub const LAST: &str = "LAST";

/// Prints a kept run.
///
/// # Errors
/// There is no such run or result, or its file is truncated, foreign or newer.
pub fn run(show: &Show) -> Result<Exit> {
    let Some(name) = &show.run else {
        let all = kept_runs();
        // Without any, the words are those for a run that is not there.
        return match all.is_empty() {
            true => kept(Path::new(LAST)).map(|_| Exit::Fine),
            false => print(text(&listed(&all), &layout()).as_bytes()).map(|()| Exit::Fine),
        };
    };
    let (path, mut run) = kept(name)?;
    if show.value {
        let values = show.ids.iter().map(|id| value(&run, id)).collect::<Result<String>>()?;
        return print(values.as_bytes()).map(|()| Exit::Fine);
    }
    let exit = show.limits.judge(&mut run)?;
    if !show.ids.is_empty() {
        let has = |result: &Outcome| {
            let asks = |id: &str| show.ids.iter().any(|begin| id.starts_with(begin));
            let quantities = result.as_shown().quantities();
            quantities.iter().any(|(id, ..)| id.starts_with(LIMIT) || asks(id))
        };
        run.results.retain(has);
        run.notes.retain(|note| {
            note.about.is_empty()
                || show.ids.iter().any(|id| note.about.starts_with(id) || note.is_about(id))
        });
        if run.results.is_empty() {
            let ids = show.ids.join(", ");
            return Err(input!("show {ids} of {}: no such id", path.display())
                .hint("values.csv of the run lists the ids"));
        }
    }
    let command = run.command.get(1).map_or("run", String::as_str);
    if run.results.is_empty() && command != "doctor" {
        let failure = input!("show {}: this run of {command} has no results", path.display());
        return Err(run.notes.first().map(words).into_iter().fold(failure, Failure::hint));
    }
    let mut blocks = if show.why {
        why(&run)
    } else {
        blocks(&run, show.shown, Some(&name.display().to_string()))
    };
    if run.interrupted && show.why {
        blocks.insert(0, Block::Text("This run ended early.".to_owned()));
    }
    print(text(&blocks, &layout()).as_bytes())?;
    tell_why(exit, &run);
    Ok(exit)
}

/// A value's number and unit, as a line.
fn value(run: &Run, id: &str) -> Result<String> {
    let (id, of) = find(run, id)?;
    let of = of.ok_or_else(|| input!("show {id}: it is not known"))?;
    let unit = multiple(of.unit, of.value.0);
    let number = significant_short(unit.count(of.value.0), DIGITS);
    Ok(format!("{number} {}", unit.symbol).trim_end().to_owned() + "\n")
}

/// Digits of a bare number.
const DIGITS: usize = 6;

fn has_run(path: &Path) -> bool {
    path.join(RUN_FILE).is_file() || RunDir::is_left(path).unwrap_or(true)
}

/// The paths of all kept runs, the newest last.
pub fn kept_runs() -> Vec<PathBuf> {
    let mut runs: Vec<PathBuf> = match fs::read_dir(RUNS) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => Vec::new(),
    };
    runs.retain(|path| has_run(path));
    // Their names begin with their start time. Of one second, the one that was written last; before all, those that
    // still go on.
    runs.sort_by_cached_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let begun = name.split('-').next().unwrap_or_default().to_owned();
        let written = fs::metadata(path).and_then(|of| of.modified()).ok();
        (RunDir::is_left(path).is_ok(), begun, written, name)
    });
    runs
}

/// The path of a run, from its path or the beginning of its name.
///
/// # Errors
/// There is no such run, or several.
pub fn found(run: &Path) -> Result<PathBuf> {
    if run.exists() && (!run.is_dir() || has_run(run)) {
        return Ok(run.to_owned());
    }
    let name = run.to_string_lossy();
    if run.join(COMPARISON).is_file() {
        let hint =
            format!("its page is {name}/{REPORT}; its values: bandgap export {name} --to csv");
        return Err(input!("take {name} for a run: it is a comparison").hint(hint));
    }
    let mut runs = kept_runs();
    let is_called = |path: &PathBuf| {
        name == LAST || path.file_name().is_some_and(|of| of.to_string_lossy().starts_with(&*name))
    };
    let last = runs.last().map(|path| format!(", such as {}", path.display()));
    runs.retain(is_called);
    if name != LAST && runs.len() > 1 {
        let all: Vec<_> =
            runs.iter().rev().take(NEWEST).map(|path| path.to_string_lossy()).collect();
        let hint = format!("the newest are {}: bandgap show lists them", all.join(", "));
        return Err(usage!("choose the run {name}: {} begin so", runs.len()).hint(hint));
    }
    runs.pop().ok_or_else(|| {
        let hint = format!("name a run's directory{}", last.unwrap_or_default());
        input!("find the run {name}: there is none").hint(hint)
    })
}

/// A kept run and its path.
///
/// # Errors
/// There is no such run, it is still going on, or it cannot be read.
pub fn kept(run: &Path) -> Result<(PathBuf, Run)> {
    let path = found(run)?;
    let directory = if path.is_dir() { Some(&*path) } else { path.parent() };
    if let Some(of) = directory
        && RunDir::is_left(of).class(Exit::Output).map_err(|of| of.hint("wait for its end"))?
    {
        take_up(of)?;
    }
    let run = read(&path).class(Exit::Input)?;
    Ok((path, run))
}

//! `bandgap compare`: two sides of runs, one verdict.

use std::fs;
use std::path::{Path, PathBuf};

use bandgap_launch::{Classify, Exit, Failure, Result, told};
use bandgap_record::RunDir;
use bandgap_report::{Page, text};
use bandgap_results::{
    COMPARISON, Comparison, Difference, Differences, REPORT, Run, Word, compare, forest,
};
use bandgap_units::Fraction;
use clap::Args;

use super::show::{found, kept};
use crate::args::precision;
use crate::layout::layout;
use crate::output::{JsonFile, print};

/// Examples.
pub const HELP: &str = "Examples:
  bandgap compare monday LAST
  bandgap compare monday tuesday -v
  bandgap compare a1,a2 b1,b2              several runs a side
  bandgap compare old new --markdown       for a pull request
  bandgap compare old new --fail-on slower,undecided
  bandgap compare here there --across      two machines

Exit codes: 0, 1 (--fail-on), 8 nothing can be told, 9 the machines differ: docs/exit-codes.md";

/// The runs to compare, and what is asked.
#[derive(Clone, Debug, Args)]
pub struct Compare {
    /// The runs before: directories, beginnings of names below ./bandgap-runs, or LAST; several with commas
    #[arg(value_name = "A")]
    pub a: String,
    /// The runs after
    #[arg(value_name = "B")]
    pub b: String,
    /// A smaller change, up or down, is none
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = precision)]
    pub margin: Fraction,
    /// The verdicts that end with exit code 1 [default: slower; with --across never]
    #[arg(long, value_name = "VERDICT,…", value_delimiter = ',', value_parser = FAIL_ON)]
    pub fail_on: Vec<String>,
    /// As --fail-on undecided, beside the others
    #[arg(long)]
    pub strict: bool,
    /// End with exit code 8 where one side lacks something
    #[arg(long)]
    pub require_all: bool,
    /// Compare two machines
    #[arg(long)]
    pub across: bool,
    /// Directory for comparison.json and its page, report.html; new or empty
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the comparison as JSON to a file, or with - to standard output, where nothing else is then printed
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Print Markdown
    #[arg(long, conflicts_with = "verbose")]
    pub markdown: bool,
    /// Print all values
    #[arg(short, long)]
    pub verbose: bool,
}

/// What can end with exit code 1.
const FAIL_ON: [&str; 6] = ["slower", "faster", "differs", "machine", "undecided", "never"];
/// The verdicts on values among them.
const OF_VALUES: [(&str, Word); 4] = [
    ("slower", Word::Slower),
    ("faster", Word::Faster),
    ("differs", Word::Differs),
    ("undecided", Word::CannotTell),
];
/// The confidence that all intervals hold.
const CONFIDENCE: f64 = 0.95;

/// Compares two sides.
///
/// # Errors
/// A run cannot be found or read, the sides have nothing in common, or their machines differ.
pub fn run(of: &Compare) -> Result<Exit> {
    let (a, b) = (side(&of.a)?, side(&of.b)?);
    let mut made = compare([&a, &b], CONFIDENCE, of.margin.0);
    let refused = |exit, why, fields: &[Difference], hint: &str| {
        let failure = Failure::new(exit, format!("compare {} with {}: {why}", of.a, of.b));
        let fields = fields.iter().map(|of| format!("{of}; ")).collect::<String>();
        Err(failure.hint(fields + hint))
    };
    let Differences { machine, experiment, .. } = &made.setup;
    if !machine.is_empty() && !of.across {
        let hint = "--across compares two machines";
        return refused(Exit::Setups, "they are of two machines", machine, hint);
    }
    if made.quantities.is_empty() && made.machine.floors.is_empty() {
        let hint = "run the same command for both";
        return refused(Exit::Missing, "they have nothing in common", experiment, hint);
    }
    made.fail_on = of.fails_on();
    let exit = judge(&made, of.require_all);
    made.exit = exit.code();
    let json = serde_json::to_string_pretty(&made).class(Exit::Defect)? + "\n";
    let launches = made.sides[1].launches.max(1) as f64;
    let minutes = b.iter().map(|(_, run)| run.elapsed.0).sum::<f64>() / launches / 60.0;
    let unwritable = |error| Failure::new(Exit::Output, told(&error));
    if let Some(directory) = &of.out {
        let directory = RunDir::create(directory).map_err(unwritable)?;
        directory.write(COMPARISON, json.as_bytes()).map_err(unwritable)?;
        let title = format!("{} and {}", of.a, of.b);
        let command =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
        let command = command.join(" ");
        let blocks: Vec<_> = made.blocks(true, minutes).into_iter().chain(forest(&made)).collect();
        let page =
            Page { title: &title, facts: "", blocks: &blocks, command: &command, source: "" };
        let page = page.html();
        directory.write(REPORT, page.as_bytes()).map_err(unwritable)?;
    }
    match &of.json {
        Some(path) if path == Path::new("-") => return print(json.as_bytes()).map(|()| exit),
        Some(path) => JsonFile::open(path)?.write(json.as_bytes())?,
        None => {}
    }
    let blocks = || text(&made.blocks(of.verbose, minutes), &layout());
    let text = if of.markdown { made.markdown(minutes) } else { blocks() };
    print(text.as_bytes()).map(|()| exit)
}

impl Compare {
    fn fails_on(&self) -> Vec<String> {
        let usual = (self.fail_on.is_empty() && !self.across).then_some("slower");
        let strict = self.strict.then_some("undecided");
        let more = usual.into_iter().chain(strict).map(str::to_owned);
        self.fail_on.iter().cloned().chain(more).collect()
    }
}

/// The exit code: the gravest that applies.
fn judge(made: &Comparison, requires_all: bool) -> Exit {
    let has = |name: &str| made.fail_on.iter().any(|of| of == name);
    let is_bad = OF_VALUES.iter().any(|(name, word)| has(name) && made.has(*word));
    let is_machine = made.verdict == Word::Machine;
    let lacks = requires_all && !(made.only_in_a.is_empty() && made.only_in_b.is_empty());
    let is_untold = made.verdict == Word::CannotTell && !made.has(Word::Same);
    match () {
        () if is_machine && is_bad && !has("machine") => Exit::Setups,
        () if lacks || is_untold => Exit::Missing,
        () if if is_machine { has("machine") } else { is_bad } => Exit::Doubtful,
        () => Exit::Fine,
    }
}

/// The runs of a side with their names.
fn side(named: &str) -> Result<Vec<(String, Run)>> {
    let is_one = found(Path::new(named)).is_ok();
    let names = named.split(if is_one { '\0' } else { ',' });
    let read = |name: &str| {
        let (path, run) = kept(Path::new(name))?;
        Ok((path.display().to_string(), run))
    };
    names.map(read).collect()
}

/// The comparison in a file or a directory, if there is one.
pub fn kept_comparison(path: &Path) -> Option<Comparison> {
    let file = if path.is_dir() { path.join(COMPARISON) } else { path.to_owned() };
    Comparison::from_json(&fs::read(file).ok()?)
}

//! `bandgap compare`: two sides of runs, one verdict.

use std::fs;
use std::path::{Path, PathBuf};

use bandgap_launch::{Classify, Exit, Failure, Result};
use bandgap_record::RunDir;
use bandgap_report::{Block, Page, text};
use bandgap_results::{
    COMPARISON, Comparison, Difference, Differences, Pairs, REPORT, Run, Word, compare, forest,
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
#[derive(Clone, Debug, Default, Args)]
pub struct Compare {
    /// The runs before: directories, beginnings of names below ./bandgap-runs, or LAST; several with commas
    #[arg(value_name = "A")]
    pub a: String,
    /// The runs after
    #[arg(value_name = "B")]
    pub b: String,
    #[command(flatten)]
    pub verdicts: Verdicts,
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

/// What is a change, and which of them fails.
#[derive(Clone, Debug, Default, Args)]
pub struct Verdicts {
    /// A smaller change, up or down, is none [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = precision)]
    pub margin: Option<Fraction>,
    /// The verdicts that end with exit code 1 [default: slower; with --across never]
    #[arg(long, value_name = "VERDICT,…", value_delimiter = ',', value_parser = FAIL_ON)]
    pub fail_on: Vec<String>,
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
/// The usual margin.
const MARGIN: f64 = 0.05;

/// Compares two sides.
///
/// # Errors
/// A run cannot be found or read, the sides have nothing in common, or their machines differ.
pub fn run(of: &Compare) -> Result<Exit> {
    let (a, b) = (side(&of.a)?, side(&of.b)?);
    let made = of.verdicts.compare([&a, &b], None);
    of.conclude(made, None, None)
}

impl Verdicts {
    /// Compares two sides.
    pub fn compare(&self, sides: [&[(String, Run)]; 2], pairs: Option<Pairs>) -> Comparison {
        compare(sides, CONFIDENCE, self.margin.map_or(MARGIN, |of| of.0), pairs)
    }

    fn fails_on(&self, strict: bool, across: bool) -> Vec<String> {
        let usual = (self.fail_on.is_empty() && !across).then_some("slower");
        let strict = strict.then_some("undecided");
        let more = usual.into_iter().chain(strict).map(str::to_owned);
        self.fail_on.iter().cloned().chain(more).collect()
    }
}

impl Compare {
    /// Judges, keeps and prints a comparison, in a directory that may be held already; `say` is said of it.
    ///
    /// # Errors
    /// The sides have nothing in common, or their machines differ; or it cannot be written.
    pub fn conclude(
        &self,
        mut made: Comparison,
        held: Option<RunDir>,
        say: Option<&str>,
    ) -> Result<Exit> {
        let refused = |exit, why, fields: &[Difference], hint: &str| {
            let failure = Failure::new(exit, format!("compare {} with {}: {why}", self.a, self.b));
            let fields = fields.iter().map(|of| format!("{of}; ")).collect::<String>();
            Err(failure.hint(fields + hint))
        };
        let Differences { machine, experiment, .. } = &made.setup;
        if !machine.is_empty() && !self.across {
            let hint = "compare --across compares two machines";
            return refused(Exit::Setups, "they are of two machines", machine, hint);
        }
        if made.is_empty() {
            let hint = "run the same command for both";
            return refused(Exit::Missing, "they have nothing in common", experiment, hint);
        }
        made.fail_on = self.verdicts.fails_on(self.strict, self.across);
        let exit = self.judge(&made);
        made.exit = exit.code();
        let json = serde_json::to_string_pretty(&made).class(Exit::Defect)? + "\n";
        let new = self.out.as_ref().filter(|_| held.is_none()).map(|of| RunDir::create(of));
        let blocks = |all| {
            let mut blocks = made.blocks(all);
            say.into_iter().for_each(|say| blocks.insert(1, Block::Text(say.to_owned())));
            blocks
        };
        if let Some(directory) = new.transpose().class(Exit::Output)?.or(held) {
            directory.write(COMPARISON, json.as_bytes()).class(Exit::Output)?;
            let title = format!("{}: {} and {}", made.verdict.words(), self.a, self.b);
            let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
            let command = words.collect::<Vec<_>>().join(" ");
            let blocks: Vec<_> = blocks(true).into_iter().chain(forest(&made)).collect();
            let page =
                Page { title: &title, facts: "", blocks: &blocks, command: &command, source: "" };
            directory.write(REPORT, page.html().as_bytes()).class(Exit::Output)?;
        }
        match &self.json {
            Some(path) if path == Path::new("-") => return print(json.as_bytes()).map(|()| exit),
            Some(path) => JsonFile::open(path)?.write(json.as_bytes())?,
            None => {}
        }
        let text = match self.markdown {
            true => made.markdown(),
            false => text(&blocks(self.verbose), &layout()),
        };
        print(text.as_bytes()).map(|()| exit)
    }

    /// The exit code: the gravest that applies.
    fn judge(&self, made: &Comparison) -> Exit {
        let has = |name: &str| made.fail_on.iter().any(|of| of == name);
        let is_bad = OF_VALUES.iter().any(|(name, word)| has(name) && made.has(*word));
        let is_machine = made.verdict == Word::Machine;
        // Of two machines, their floors may differ.
        let is_moved = is_machine && !self.across;
        let lacks = self.require_all && !(made.only_in_a.is_empty() && made.only_in_b.is_empty());
        let is_untold = made.verdict == Word::CannotTell && !made.has(Word::Same);
        match () {
            () if is_moved && is_bad && !has("machine") => Exit::Setups,
            () if lacks || is_untold => Exit::Missing,
            () if is_machine && has("machine") || is_bad && !is_moved => Exit::Doubtful,
            () => Exit::Fine,
        }
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

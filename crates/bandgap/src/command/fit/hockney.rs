//! `bandgap fit hockney`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bandgap_import::{Remark, SizeRow, SizeTable, Timing, read_size_table};
use bandgap_launch::{Classify, Exit, Failure, told};
use bandgap_model::ModelError;
use bandgap_model::hockney::{Breaks, HockneyOptions, sized_times_from_pairs};
use bandgap_results::assemble::{Fitting, TABLE, tabled};
use bandgap_results::measured::Which;
use bandgap_results::{AssembleError, Outcome};
use bandgap_stats::Rule;
use bandgap_units::{Bytes, Fraction};
use clap::Args;

use super::{named, open};
use crate::args::{Measure, Output};
use crate::output::Sink;

/// Rounding by more than this share of a time is told.
const COARSE: f64 = 0.01;

/// What is fitted with r∞, n½, t0, π0, and in which segments.
#[derive(Debug, Args)]
pub struct FitHockney {
    /// The table or the tool's output; `-` reads standard input
    pub file: PathBuf,
    /// Where segments end: the greatest size of each but the last, ascending [default: found]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub breaks: Vec<Bytes>,
    /// Most segments to find
    #[arg(long, value_name = "N", default_value_t = 5, conflicts_with = "breaks",
          value_parser = clap::value_parser!(u8).range(1..))]
    pub segments: u8,
}

/// Most different sizes: the time to find breakpoints grows with their square.
const MOST_SIZES: usize = 6000;

/// Fits t(n) = (n + n½)/r∞ to sizes and times.
pub(super) fn run(fit: &FitHockney, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let name = named(&fit.file);
    let table = read_size_table(open(&fit.file)?)
        .map_err(|error| Failure::new(Exit::Input, format!("use {name}: {}", told(&error))))?;
    let sizes = sizes(&table);
    if sizes > MOST_SIZES {
        let what =
            format!("fit {name}: it has {sizes} different sizes, and {MOST_SIZES} are the most");
        return Err(Failure::new(Exit::Input, what).hint("leave some out"));
    }
    let breaks = match fit.breaks.as_slice() {
        [] => Breaks::Automatic { most: usize::from(fit.segments) },
        given => Breaks::At(given.iter().map(|bytes| bytes.0).collect()),
    };
    let steps = table.rows.iter().map(|row| (row.bytes, row.step_ns)).collect();
    let options = HockneyOptions { breaks, confidence: measure.confidence.0, steps };
    let times = sized_times_from_pairs(table.rows.iter().map(|row| (row.bytes, row.time_ns)));
    let rule = Rule { precision: measure.precision.0, stamp: 0.0 };
    let fitting = Fitting {
        name: table.tool,
        transport: TABLE,
        which: Which::default(),
        messages: table.messages,
        rule,
        notes: notes(&table),
        lost: Vec::new(),
    };
    let (fits, doubts) =
        fitting.fit(&times, &options).map_err(|error| unfitted(&error, &fit.file, &table))?;
    let recognised = recognised(&table);
    let confidence = measure.confidence.0;
    let findings = vec![recognised.clone()];
    let series = tabled(table.tool, &times, rule, confidence, findings).class(Exit::Defect)?;
    let mut sink = Sink::open(&output.only_asked(), "fit", measure)?;
    let fits = fits.into_iter().map(Outcome::from);
    sink.add_below(&format!("{recognised}\n\n"), fits.chain([series.into()]).collect())?;
    // A table's repetitions do not converge any more; what counts is what the fit makes of them.
    sink.doubtful = doubts;
    let exit = if sink.doubtful.is_empty() { Exit::Fine } else { Exit::Doubtful };
    sink.close(output.judged(exit))
}

/// How many different sizes there are.
fn sizes(table: &SizeTable) -> usize {
    table.rows.iter().map(|row| row.bytes).collect::<BTreeSet<u64>>().len()
}

/// Whose table it is, and what its times are.
fn recognised(table: &SizeTable) -> String {
    let (rows, tool) = (table.rows.len(), table.tool);
    let sizes = sizes(table);
    let sizes = match sizes < rows {
        true => format!(" of {sizes} sizes, repetitions averaged"),
        false => String::new(),
    };
    format!("Read as {tool}: {rows} rows{sizes}; {}.", table.timing.name())
}

/// The reader's remarks, and what a fit is of that is not one of half round trips.
fn notes(table: &SizeTable) -> Vec<String> {
    let mut notes: Vec<String> = table.remarks.iter().map(remark).collect();
    let fitted = match table.timing {
        Timing::AsGiven | Timing::HalfRoundTrip => None,
        Timing::Exchange => Some(
            "Both ranks send at the same time: r∞ is the rate of one direction while the other is busy too, and t0 is \
             not half a round trip.",
        ),
        Timing::Stream => Some(
            "A stream: r∞ and n½ are those of messages in a window, and t0 is the least time between messages, not \
             half a round trip.",
        ),
    };
    notes.extend(fitted.map(str::to_owned));
    notes.extend(coarse(table));
    notes
}

fn remark(remark: &Remark) -> String {
    match remark {
        Remark::Assumed(test) => {
            format!("The file does not name its test: the times are taken for those of {test}.")
        }
        Remark::LeftOut(tests) => format!("Also in the file, and left out: {}.", tests.join(", ")),
        Remark::RoundedSizes => {
            "Some sizes are printed with fewer digits than they have.".to_owned()
        }
        Remark::DefaultSize(bytes) => {
            format!("A command line without a message size is taken to send {}.", Bytes(*bytes))
        }
    }
}

/// By how much the table rounds its times, where that is much.
fn coarse(table: &SizeTable) -> Option<String> {
    let rounded = |row: &SizeRow| row.step_ns / 2.0 / row.time_ns;
    let worst = table.rows.iter().max_by(|a, b| rounded(a).total_cmp(&rounded(b)))?;
    (rounded(worst) > COARSE).then(|| {
        format!(
            "Times in the table are rounded: the time of {} by up to ±{}. The intervals allow for that.",
            Bytes(worst.bytes),
            Fraction(rounded(worst))
        )
    })
}

/// Why nothing was fitted, with the line where there is one.
fn unfitted(error: &AssembleError, file: &Path, table: &SizeTable) -> Failure {
    let what = format!("fit {}: ", named(file));
    match error {
        AssembleError::Model(ModelError::BadTime { bytes, value }) => {
            let bad =
                |row: &&SizeRow| row.bytes == *bytes && row.time_ns.to_bits() == value.to_bits();
            let line = table.rows.iter().find(bad).map(|row| format!("line {}: ", row.line));
            Failure::new(Exit::Input, what + &line.unwrap_or_default() + &error.to_string())
        }
        AssembleError::Model(
            ModelError::BreakOutside { .. }
            | ModelError::BreaksTooClose { .. }
            | ModelError::BreaksUnsorted { .. },
        ) => Failure::new(Exit::Usage, format!("{what}{error}"))
            .hint("choose other --breaks, or leave the option out to have them found"),
        _ => Failure::new(Exit::Input, format!("{what}{error}")),
    }
}

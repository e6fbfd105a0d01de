//! `bandgap fit`: parameters from times that another tool measured.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bandgap_assemble::{AssembleError, Fitting, Made};
use bandgap_import::{Choice, Run, SizeTable, read_size_table};
use bandgap_launch::{Exit, Failure, Result, input, told, usage};
use bandgap_model::ModelError;
use bandgap_model::hockney::Breaks;
use bandgap_record::read_logp_table;
use bandgap_units::Bytes;
use clap::{Args, Subcommand};

use crate::args::{Output, Precision};
use crate::output::close_given;

#[derive(Debug, Subcommand)]
pub enum Fit {
    /// LogP from rows of kind,messages,delay_ns,elapsed_ns (kind is issue or rtt)
    #[command(after_help = "One row per repetition. kind `issue`: time of the issue phase of \
`messages` requests with `delay_ns` of computation after each; kind `rtt`: time of `messages` requests with \
their replies, one after the other. Rows that were measured together share a number in a column \
`batch`, and batches of one round one in `round`; without them intervals may be too narrow. Columns may \
stand in any order, others are ignored.

Examples:
  bandgap fit logp samples.csv
  bandgap fit logp - < samples.csv")]
    Logp {
        /// The table; `-` reads standard input
        file: PathBuf,
        #[command(flatten)]
        how: How,
    },
    /// r∞, n½, t0, π0 from rows of bytes,time_ns, or from what another tool printed
    #[command(
        after_help = "Recognised by what is in the file: a table with the columns bytes and \
time_ns, and what OSU's point-to-point tests, IMB PingPong, NetPIPE, perftest (ib_send_lat and others), \
ucx_perftest, fi_pingpong, sockperf, nccl-tests, mpptest, qperf, netperf and iperf3 --json print. What launchers write \
before every line is taken away.

Examples:
  bandgap fit hockney times.csv
  bandgap fit hockney times.csv --breaks 64,8KiB
  bandgap fit hockney log.txt --test osu_bw --run 2
  osu_latency | bandgap fit hockney -"
    )]
    Hockney(FitHockney),
}

/// Precision and output of a command that computes from given numbers.
#[derive(Clone, Debug, Args)]
pub struct How {
    #[command(flatten)]
    pub precision: Precision,
    #[command(flatten)]
    pub output: Output,
}

/// The times to fit with r∞, n½, t0, π0, and the segments.
#[derive(Debug, Args)]
pub struct FitHockney {
    /// The table or the tool's output; `-` reads standard input
    file: PathBuf,
    /// Which test of a log with several, as the log or its program is called [default: the first with a latency]
    #[arg(long, value_name = "NAME")]
    test: Option<String>,
    /// Which run of a test that is there several times: its number, or `all` as repetitions
    #[arg(long, value_name = "K", value_parser = chosen_run)]
    run: Option<Run>,
    /// Where segments end: the greatest size of each but the last, ascending [default: found]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    breaks: Vec<Bytes>,
    /// Most segments to find
    #[arg(long, value_name = "N", default_value_t = 5, conflicts_with = "breaks",
          value_parser = clap::value_parser!(u8).range(1..))]
    segments: u8,
    #[command(flatten)]
    how: How,
}

fn chosen_run(text: &str) -> Result<Run, &'static str> {
    match (text, text.parse()) {
        ("all", _) => Ok(Run::All),
        (_, Ok(number)) if number > 0 => Ok(Run::Number(number)),
        _ => Err("it must be a number from 1, or all"),
    }
}

/// Most different sizes: the time to find breakpoints grows with the square of their number.
const MOST_SIZES: usize = 6000;

/// Fits and prints; keeps files only if `--out` asks for them.
///
/// # Errors
/// The table cannot be read, is wrong or lacks rows for a fit, or the result cannot be written.
pub fn run(fit: &Fit) -> Result<Exit> {
    match fit {
        Fit::Logp { file, how } => logp(file, how),
        Fit::Hockney(hockney) => self::hockney(hockney),
    }
}

impl How {
    fn fitting(&self) -> Fitting {
        let Precision { precision, confidence, seed, .. } = self.precision;
        Fitting { precision: precision.0, confidence: confidence.0, seed }
    }

    /// Keeps and prints the results.
    pub fn close(&self, command: &str, made: Made) -> Result<Exit> {
        close_given(command, (&self.precision, &self.output), made, Exit::Fine)
    }
}

/// Fits a signature to rows of kind, messages, delay and time.
fn logp(file: &Path, how: &How) -> Result<Exit> {
    let name = named(file);
    let rows =
        read_logp_table(open(file)?).map_err(|error| input!("use {name}: {}", told(&error)))?;
    let made = how.fitting().logp(&rows).map_err(|error| {
        let unobserved = match &error {
            AssembleError::Model(error) => error.unobserved(),
            _ => None,
        };
        let hint = unobserved.map(|what| format!("observe {what}"));
        hint.into_iter().fold(input!("fit {name}: {error}"), Failure::hint)
    })?;
    how.close("fit", made)
}

/// Fits t(n) = (n + n½)/r∞ to sizes and times.
fn hockney(fit: &FitHockney) -> Result<Exit> {
    let name = named(&fit.file);
    let choice = Choice { test: fit.test.clone(), run: fit.run.unwrap_or_default() };
    let table = read_size_table(open(&fit.file)?, &choice)
        .map_err(|error| input!("use {name}: {}", told(&error)))?;
    let sizes = table.rows.iter().map(|row| row.bytes).collect::<BTreeSet<u64>>().len();
    if sizes > MOST_SIZES {
        return Err(input!("fit {name}: too many sizes: {sizes} (limit {MOST_SIZES})")
            .hint("leave some out"));
    }
    let breaks = match fit.breaks.as_slice() {
        [] => Breaks::Automatic { most: usize::from(fit.segments) },
        given => Breaks::At(given.iter().map(|bytes| bytes.0).collect()),
    };
    let made = fit.how.fitting().hockney(&table, breaks);
    let made = made.map_err(|error| unfitted(&error, &name, &table))?;
    fit.how.close("fit", made)
}

/// The failure of a fit, with the line of the table if one caused it.
fn unfitted(error: &AssembleError, name: &str, table: &SizeTable) -> Failure {
    let what = format!("fit {name}: ");
    match error {
        AssembleError::Model(ModelError::BadTime(bytes, value)) => {
            let row = table
                .rows
                .iter()
                .find(|row| row.bytes == *bytes && row.time_ns.to_bits() == value.to_bits());
            let line = row.map(|row| format!("line {}: ", row.line));
            Failure::new(Exit::Input, what + &line.unwrap_or_default() + &error.to_string())
        }
        AssembleError::Model(ModelError::BreakOutside(..) | ModelError::BreaksTooClose(..)) => {
            usage!("{what}{error}")
                .hint("choose other --breaks, or leave the option out to have them found")
        }
        _ => input!("{what}{error}"),
    }
}

/// Opens the file, or standard input for `-`.
pub fn open(file: &Path) -> Result<Box<dyn Read>> {
    if file == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    let opened = File::open(file);
    let opened = opened.map_err(|e| input!("open {}: {e}", file.display()))?;
    if opened.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(input!("open {}: it is a directory", file.display()).hint("name a table"));
    }
    Ok(Box::new(opened))
}

/// The name of the file in errors.
pub fn named(file: &Path) -> String {
    match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    }
}

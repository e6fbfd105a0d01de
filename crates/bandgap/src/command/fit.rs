//! `bandgap fit`: parameters from numbers that somebody else measured.

mod hockney;
mod logp;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bandgap_launch::{Exit, Failure};
use clap::Subcommand;

use crate::args::{Measure, Output};
use hockney::FitHockney;

#[derive(Debug, Subcommand)]
pub enum Fit {
    /// LogP from rows of kind,messages,delay_ns,elapsed_ns (kind is issue or rtt)
    #[command(after_help = "One row per repetition. kind `issue`: time of the issue phase of \
`messages` requests with `delay_ns` of computation after each; kind `rtt`: time of `messages` requests with \
their replies, one after the other. Rows that were measured together share a number in a column \
`batch`, and batches of one round one in `round`; without them intervals may be too narrow. Columns may \
stand in any order, others are ignored.

Examples:
  bandgap fit logp bandgap-runs/…/samples.csv
  bandgap fit logp - < samples.csv")]
    Logp {
        /// The table; `-` reads standard input
        file: PathBuf,
    },
    /// r∞, n½, t0, π0 from rows of bytes,time_ns, or from what another tool printed
    #[command(
        after_help = "Recognised by what is in the file: a table with the columns bytes and \
time_ns, and what osu_latency, osu_bw, IMB PingPong, NetPIPE, ucx_perftest, fi_pingpong and \
sockperf print.

Examples:
  bandgap fit hockney times.csv
  bandgap fit hockney times.csv --breaks 64,8KiB
  osu_latency | bandgap fit hockney -"
    )]
    Hockney(FitHockney),
}

/// Fits and prints; keeps files only where `--out` says so.
///
/// # Errors
/// The table cannot be read or is wrong, does not hold what a fit needs, or the result cannot be
/// written.
pub fn run(fit: &Fit, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    match fit {
        Fit::Logp { file } => logp::run(file, measure, output),
        Fit::Hockney(hockney) => hockney::run(hockney, measure, output),
    }
}

/// The file named, or standard input.
pub(super) fn open(file: &Path) -> Result<Box<dyn Read>, Failure> {
    if file == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    let opened = File::open(file);
    let opened =
        opened.map_err(|e| Failure::new(Exit::Input, format!("open {}: {e}", file.display())))?;
    if opened.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Failure::new(
            Exit::Input,
            format!("open {}: it is a directory", file.display()),
        )
        .hint("the samples of a run are in its samples.csv"));
    }
    Ok(Box::new(opened))
}

/// How errors call the file.
pub(super) fn named(file: &Path) -> String {
    match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    }
}

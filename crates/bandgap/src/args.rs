//! The options that all commands take, and what is typed for them.

use std::path::PathBuf;
use std::time::Duration;

use bandgap_campaign::sizes::LONGEST;
use bandgap_comm::Faults;
use bandgap_launch::{Exit, Failure, Options, Target, Wait};
use bandgap_units::{Bytes, Fraction, Ns, UnitError};
use clap::Args;

use crate::faults::faults;

/// What and how to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measurement")]
pub struct Measure {
    /// shm, tcp, unix, udp, or sim:MACHINE, a machine in virtual time (paragon, meiko-cs2, myrinet,
    /// ipsc860, or a file FILE.toml) [default: shm; of bandgap alone and of run shm, tcp and unix]
    #[arg(short, long, global = true, value_name = "TRANSPORT")]
    pub transport: Option<Target>,
    /// Number of ranks; of series of all ranks several, as 2,4,8 [default: as few as are needed]
    #[arg(short = 'n', long, global = true, value_name = "N", value_delimiter = ',')]
    pub ranks: Vec<usize>,
    /// Processors for the ranks, in order: 0,1 or 0-3 [default: one core each, nearest first]
    #[arg(long, global = true, value_name = "LIST")]
    pub cores: Option<String>,
    /// Half-width of the interval, over the estimate, at which a value has converged
    #[arg(long, global = true, value_name = "SHARE", default_value = "5%", value_parser = precision)]
    pub precision: Fraction,
    /// Confidence level of all intervals
    #[arg(long, global = true, value_name = "SHARE", default_value = "95%", value_parser = confidence)]
    pub confidence: Fraction,
    /// Longest time for one measurement, which the kernels of comet share. First looks and a warm-up of at
    /// most half of it come before; on a disturbed machine two rounds may take three times as long
    /// [default: 8s; of all of comet's kernels 24s]
    #[arg(long, global = true, value_name = "TIME", value_parser = time)]
    pub time_budget: Option<Ns>,
    /// Measure this many times in fresh processes; intervals of a signature then hold that variance too
    #[arg(long, global = true, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub launches: u32,
    /// How ranks wait for messages
    #[arg(long, global = true, value_enum, default_value_t = Wait::Auto)]
    pub wait: Wait,
    /// Longest wait for a message before the run is given up
    #[arg(long, global = true, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub deadline: Ns,
    /// For tests of what repairs it: lets udp lose, double, reorder and change datagrams, as in
    /// loss=30%,duplicate=10%,reorder=10%,corrupt=1%,seed=7
    #[arg(long, global = true, hide = true, value_name = "SHARES", value_parser = faults)]
    pub udp_faults: Option<Faults>,
    /// Run a checked batch of each point in every round, not only before the first timed one
    #[arg(long, global = true)]
    pub check: bool,
    /// Seed of the order of points and of the bootstrap
    #[arg(long, global = true, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl Measure {
    /// The time budget, or what is usual.
    pub fn budget(&self) -> Duration {
        self.time_budget.map_or(Duration::from_secs(8), |ns| Duration::from_secs_f64(ns.0 * 1e-9))
    }

    /// How ranks are started.
    pub fn options(&self) -> Options {
        Options {
            cores: self.cores.clone(),
            launches: self.launches,
            wait: self.wait,
            deadline: Duration::from_secs_f64(self.deadline.as_secs()),
            faults: self.udp_faults,
        }
    }
}

/// No interval of a measurement has a half-width of nothing; one wider than its value tells nothing.
fn precision(text: &str) -> Result<Fraction, String> {
    let share: Fraction = text.parse().map_err(|error: UnitError| error.to_string())?;
    if share.0 > 0.0 {
        return Ok(share);
    }
    Err("it must be more than 0 %, and at most 100 %".to_owned())
}

/// An interval that holds with certainty is infinite, and one without confidence is empty; close to either its ends are no
/// numbers.
fn confidence(text: &str) -> Result<Fraction, String> {
    let share: Fraction = text.parse().map_err(|error: UnitError| error.to_string())?;
    if (LEAST_CONFIDENCE..=1.0 - LEAST_CONFIDENCE).contains(&share.0) {
        return Ok(share);
    }
    Err("it must lie between 0.0001 % and 99.9999 %".to_owned())
}

/// The least confidence, and what the greatest lacks.
const LEAST_CONFIDENCE: f64 = 1e-6;

/// A time that can be waited for.
fn time(text: &str) -> Result<Ns, String> {
    let time: Ns = text.parse().map_err(|error: UnitError| error.to_string())?;
    if time.0 > 0.0 && time.0 <= LONGEST_WAIT {
        return Ok(time);
    }
    Err("it must be longer than nothing and at most 1000 h".to_owned())
}

/// Longest time that a run waits for anything, in nanoseconds: a thousand hours.
const LONGEST_WAIT: f64 = 3.6e15;

/// Where results go.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Directory for the run's files; must not exist or be empty [default: of what measures, a new one in
    /// bandgap-runs]
    #[arg(short, long, global = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep no files
    #[arg(long, global = true, conflicts_with = "out")]
    pub no_save: bool,
    /// Write the run as JSON to a file, or with - to standard output, where nothing else is then
    /// printed
    #[arg(long, global = true, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// No progress, no notes
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// End with exit code 1 where a measured time, a floor, os, or, g, RTT or a fitted parameter has not
    /// converged (`*`), a line of `fit hockney` does not hold, or a model of
    /// `breakdown` may be more than 5 % off; L, idle, C and ratios do not count. A
    /// value at the clock's limit (`~`) counts as converged
    #[arg(long, global = true)]
    pub strict: bool,
}

impl Output {
    /// How the program ends, where a doubtful result is an outcome only for those who ask.
    pub fn judged(&self, exit: Exit) -> Exit {
        if exit == Exit::Doubtful && !self.strict { Exit::Fine } else { exit }
    }

    /// The same for a command that keeps files only where `--out` asks for them.
    pub fn only_asked(&self) -> Self {
        Self { no_save: self.out.is_none(), ..self.clone() }
    }
}

/// A range of message sizes as typed: `0:1MiB`, or a single size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeRange {
    from: u64,
    to: u64,
}

impl SizeRange {
    /// The least and the greatest.
    ///
    /// # Errors
    /// The greatest is longer than a message may be.
    pub fn bounds(self) -> Result<(u32, u32), Failure> {
        if self.to > u64::from(LONGEST) {
            let (to, longest) = (Bytes(self.to), Bytes(u64::from(LONGEST)));
            return Err(Failure::new(
                Exit::Usage,
                format!("transfer {to}: {longest} is the longest"),
            ));
        }
        Ok((self.from as u32, self.to as u32))
    }
}

impl std::str::FromStr for SizeRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = |text: &str| text.parse::<Bytes>().map(|b| b.0).map_err(|e| e.to_string());
        let (from, to) = match text.split_once(':') {
            Some((from, to)) => (size(from)?, size(to)?),
            None => (size(text)?, size(text)?),
        };
        if from <= to {
            Ok(Self { from, to })
        } else {
            Err(format!("it ends before it begins: {text}"))
        }
    }
}

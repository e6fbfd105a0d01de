//! The command line as typed.

use std::path::PathBuf;
use std::time::Duration;

use bandgap_kernels::{Over, facts};
use bandgap_units::{Bytes, Fraction, Ns};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};

use bandgap_launch::{Options, Target, Wait};

/// Measures how machines communicate, and fits the models people reason with.
///
/// Without a command: the LogP signature of this machine over shared memory, TCP and Unix sockets,
/// and one summary.
#[derive(Debug, Parser)]
#[command(name = "bandgap", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  bandgap                                     characterise this machine
  bandgap signature                           LogP over shared memory
  bandgap signature --transport tcp           … over TCP on the loopback interface
  bandgap signature --transport sim:paragon   … of a simulated machine
  bandgap floor                               what this machine allows
  bandgap doctor                              is this machine fit to measure on?")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub measure: Measure,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// The LogP signature over shm, tcp and unix, and one summary (what bandgap does by itself)
    #[command(after_help = "Examples:
  bandgap run
  bandgap run --time-budget 30s --out monday
  bandgap run --ranks 4                        with the round trips of all pairs")]
    Run,
    /// LogP parameters of small messages: send and receive overhead, gap, latency, with intervals
    #[command(after_help = "Examples:
  bandgap signature
  bandgap signature --transport tcp --wait block
  bandgap signature --ranks 4 --pairs          half of the ranks against the other half
  bandgap signature --ranks 4 --fan-out        one to many
  bandgap signature --ranks 4 --fan-in 3       many to one: the gap under contention
  bandgap signature --launches 5               in fresh processes, five times
  bandgap signature --transport sim:myrinet    a machine in virtual time
  bandgap signature --json - --quiet           numbers for a program")]
    Signature(Signature),
    /// Bulk transfers, store and get: time and bandwidth over sizes, overhead, gap, overlap
    #[command(after_help = "Examples:
  bandgap bulk
  bandgap bulk --get --sizes 4KiB:1MiB
  bandgap bulk --store --time-budget 20s --out bulk
  bandgap bulk --transport tcp --no-surface    over TCP, without the signatures
  bandgap bulk --transport sim:ipsc860         a machine in virtual time")]
    Bulk(Bulk),
    /// COMMS1: ping-pong of messages over sizes, fitted with r∞, n½, t0, π0
    #[command(after_help = "Examples:
  bandgap comms1
  bandgap comms1 --sizes 0:64KiB
  bandgap comms1 --transport tcp               over TCP on the loopback interface
  bandgap comms1 --transport sim:ipsc860       a machine in virtual time")]
    Comms1(Comms),
    /// COMMS2: exchange of messages, both ways at once, fitted likewise
    #[command(after_help = "Examples:
  bandgap comms2
  bandgap comms2 --ranks 4 --between 0,3")]
    Comms2(Comms),
    /// COMMS3: all ranks exchange messages with all, total bandwidth
    #[command(after_help = "Examples:
  bandgap comms3
  bandgap comms3 --ranks 4 --sizes 1KiB:1MiB")]
    Comms3(Comms),
    /// SYNCH1: barriers of all ranks
    #[command(after_help = "Examples:
  bandgap synch1
  bandgap synch1 --ranks 4")]
    Synch1,
    /// Kernels of message passing by name; without a name, all of them
    #[command(after_help = "Examples:
  bandgap comet
  bandgap comet comms1 synch1 --ranks 4")]
    Comet {
        /// Which
        #[arg(value_name = "KERNEL", value_parser = PossibleValuesParser::new(passing()))]
        names: Vec<String>,
        #[command(flatten)]
        comms: Comms,
    },
    /// What this machine allows: cache line, slot ring, copies, raw sockets, clock, system call
    #[command(after_help = "Examples:
  bandgap floor
  bandgap floor cache_line tcp
  bandgap floor --json floor.json")]
    Floor {
        /// Floors to measure; none named = all
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Is this machine fit to measure on? Graded, with what to do
    #[command(after_help = "Examples:
  bandgap doctor
  bandgap doctor --json -")]
    Doctor,
    /// Processors, caches, memory nodes, and the distances between processors
    #[command(after_help = "Examples:
  bandgap topology
  bandgap topology --json -")]
    Topology,
    /// Parameters from a table of numbers, with no measurement
    #[command(
        subcommand,
        after_help = "Examples:
  bandgap fit logp samples.csv
  bandgap fit hockney times.csv
  osu_latency | bandgap fit hockney -"
    )]
    Fit(Fit),
    /// Shell completions on standard output
    #[command(after_help = "Examples:
  bandgap completions bash > ~/.local/share/bash-completion/completions/bandgap")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// The manual page on standard output
    #[command(after_help = "Examples:
  bandgap man > bandgap.1")]
    Man,
    /// A rank of a run: started by bandgap itself
    #[command(name = "rank", hide = true)]
    Rank {
        /// The launcher's process
        parent: u32,
    },
}

#[derive(Debug, Subcommand)]
pub enum Fit {
    /// LogP from rows of kind,messages,delay_ns,elapsed_ns (kind is issue or rtt)
    #[command(after_help = "One row per repetition. kind `issue`: time of the issue phase of \
`messages` requests with `delay_ns` of computation after each; kind `rtt`: time of one request with \
its reply. Columns may stand in any order, further columns are ignored.

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

/// What and how to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measurement")]
pub struct Measure {
    /// shm, tcp, unix, udp, or sim:MACHINE, a machine in virtual time (paragon, meiko-cs2, myrinet,
    /// ipsc860, or a file FILE.toml) [default: shm]
    #[arg(short, long, global = true, value_name = "TRANSPORT")]
    pub transport: Option<Target>,
    /// Number of ranks; of series of all ranks several, as 2,4,8 [default: as few as are needed]
    #[arg(short = 'n', long, global = true, value_name = "N", value_delimiter = ',')]
    pub ranks: Vec<usize>,
    /// Processors for the ranks, in order: 0,1 or 0-3 [default: one core each, nearest first]
    #[arg(long, global = true, value_name = "LIST")]
    pub cores: Option<String>,
    /// Half-width of the interval, over the estimate, at which a point is done
    #[arg(long, global = true, value_name = "SHARE", default_value = "5%")]
    pub precision: Fraction,
    /// Confidence level of all intervals
    #[arg(long, global = true, value_name = "SHARE", default_value = "95%", value_parser = confidence)]
    pub confidence: Fraction,
    /// Longest time for one measurement [default: 8s]
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
            deadline: self.deadline.0 * 1e-9,
        }
    }
}

/// An interval that holds with certainty is infinite, and one without confidence is empty.
fn confidence(text: &str) -> Result<Fraction, String> {
    let share: Fraction =
        text.parse().map_err(|error: bandgap_units::UnitError| error.to_string())?;
    if share.0 > 0.0 && share.0 < 1.0 {
        return Ok(share);
    }
    Err("it must lie between 0 % and 100 %, and be neither".to_owned())
}

/// A time that can be waited for.
fn time(text: &str) -> Result<Ns, String> {
    let time: Ns = text.parse().map_err(|error: bandgap_units::UnitError| error.to_string())?;
    if time.0 > 0.0 && time.0 <= LONGEST {
        return Ok(time);
    }
    Err("it must be longer than nothing and at most 1000 h".to_owned())
}

/// Longest time that a run waits for anything, in nanoseconds: a thousand hours.
const LONGEST: f64 = 3.6e15;

/// Where results go.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Directory for the run's files; must not exist or be empty [default: a new one in
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
}

/// Who sends to whom in a signature.
#[derive(Clone, Debug, Args)]
pub struct Signature {
    /// Half of the ranks against the other half
    #[arg(long, group = "pattern")]
    pub pairs: bool,
    /// One rank to all others
    #[arg(long, group = "pattern")]
    pub fan_out: bool,
    /// K ranks to one, for 1 to K: the gap under contention
    #[arg(long, group = "pattern", value_name = "K")]
    pub fan_in: Option<usize>,
}

/// Which bulk transfers are measured.
#[derive(Clone, Debug, Args)]
pub struct Bulk {
    /// Stores only
    #[arg(long)]
    pub store: bool,
    /// Gets only
    #[arg(long)]
    pub get: bool,
    /// Message sizes, from the least to the greatest, of 1GiB at most
    #[arg(long, value_name = "FROM:TO", default_value = "0:4MiB")]
    pub sizes: SizeRange,
    /// Leave out the signatures (overheads, gap, latency) at a few sizes; they are of stores, or
    /// with --get of gets
    #[arg(long)]
    pub no_surface: bool,
}

/// What messages are sent, and between whom.
#[derive(Clone, Debug, Default, Args)]
pub struct Comms {
    /// Message sizes, from the least to the greatest, of 1GiB at most
    #[arg(long, value_name = "FROM:TO", default_value = "0:4MiB")]
    pub sizes: SizeRange,
    /// The two ranks [default: 0,1]
    #[arg(long, value_name = "A,B")]
    pub between: Option<Pair>,
}

/// Two ranks as typed: `0,1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair(pub [usize; 2]);

impl std::str::FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rank = |text: &str| {
            let most = bandgap_launch::MAX_RANKS;
            text.trim().parse().ok().filter(|rank| *rank < most)
        };
        let pair = text.split_once(',').and_then(|(a, b)| Some([rank(a)?, rank(b)?]));
        pair.map(Self).ok_or_else(|| format!("it must be two ranks, as in 0,1: {text}"))
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
    pub fn bounds(self) -> (u64, u64) {
        (self.from, self.to)
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
/// The series of message passing.
pub fn passing() -> Vec<&'static str> {
    let passing = facts().into_iter().filter(|fact| fact.over == Over::Comm);
    passing.filter_map(|fact| Some(fact.series?.name)).collect()
}

//! The command line: a file for each command, with its arguments; its name, its help and its call
//! are here.

mod applies;
mod breakdown;
mod bulk;
mod comet;
mod comms;
mod components;
mod contention;
mod describe;
mod doctor;
mod fit;
mod floor;
mod measure;
mod overlap;
mod pairs;
mod passing;
mod pcie_trace;
mod points;
mod run;
mod signature;
mod topology;
mod unused;
mod whatif;

use std::ffi::OsString;

use bandgap_launch::{Classify, Exit, Failure};
use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::args::{Measure, Output};
use crate::output::{print, printed};
use breakdown::Breakdown;
use bulk::Bulk;
use comms::Names;
use fit::Fit;
use passing::{Comms, Ways};
use signature::Signature;
use whatif::WhatIf;

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
  bandgap floor                               plain loops on this machine
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
    /// Round trips of small messages between all pairs of ranks, with the distances of their cores
    #[command(after_help = "Examples:
  bandgap pairs                                a rank on each processor
  bandgap pairs --cores 0-7 --transport unix
  bandgap pairs --transport sim:paragon --ranks 8")]
    Pairs,
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
    /// CoMet's kernels of message passing by name; without a name, all of them
    #[command(after_help = "Examples:
  bandgap comet
  bandgap comet broadcast --ranks 2,4 --algorithm all
  bandgap comet echo exchange --sizes 0:64KiB
  bandgap comet --transport sim:ipsc860 --ranks 16")]
    Comet {
        /// Which
        #[arg(value_name = "KERNEL", value_parser = PossibleValuesParser::new(comet::passing()))]
        names: Vec<String>,
        #[command(flatten)]
        comms: Comms,
        #[command(flatten)]
        ways: Ways,
    },
    /// Plain loops on this machine: cache line, slot ring, copies, raw sockets, clock, system call
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
    /// Where the time of a message goes: components, and models over them
    #[command(
        after_help = "Over a transport the components are measured: each in batches of its own, and the models \
are compared with messages that have no stamps. With --from or --pcie-trace nothing is measured: the times come from \
a table, a run, or the trace of a PCIe analyser. docs/method.md says what these are.

Examples:
  bandgap breakdown --transport unix
  bandgap breakdown --transport tcp --insert 50ns,200ns,1us
  bandgap breakdown                            over shared memory
  bandgap breakdown --from thunderx2-connectx4
  bandgap breakdown --from mine.csv            components, and models or names of the paper's
  bandgap breakdown --from bandgap-runs/…      a run with a LogP signature
  bandgap breakdown --pcie-trace ping-pong.csv --without-switch direct.csv
  bandgap breakdown --pcie-trace ping-pong.csv --set llp_post=175.42ns --set llp_prog=61.63ns
  bandgap breakdown --from thunderx2-connectx4 --pcie-trace put_bw.csv"
    )]
    Breakdown(Breakdown),
    /// What faster or slower components would bring
    #[command(
        after_help = "The paper's cases: PIO at 15 ns, I/O on the processor's chip, less software, a fast switch, and a \
sender that polls after every 4 posts.

Examples:
  bandgap whatif --from thunderx2-connectx4
  bandgap whatif --from thunderx2-connectx4 --set pio=15ns
  bandgap whatif --from thunderx2-connectx4 --reduce io=50%
  bandgap whatif --from thunderx2-connectx4 --reduce hlp=20%
  bandgap whatif --from thunderx2-connectx4 --set switch=30ns --set p=4
  bandgap whatif --from mine.csv --reduce llp=20%
  bandgap whatif --from bandgap-runs/… --reduce os=50%          a run with a LogP signature
  bandgap whatif --from bandgap-runs/… --signature tcp --set L=5us"
    )]
    Whatif(WhatIf),
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

/// The command line of this program as it was typed. Wrong ones end the program here, as help does.
///
/// # Errors
/// An option was given that the command has no use for.
pub fn parse() -> Result<Cli, Failure> {
    parsed(std::env::args_os())
}

fn parsed(words: impl Iterator<Item = OsString>) -> Result<Cli, Failure> {
    let mut program = program();
    let given = program.clone().try_get_matches_from(words).map_err(|error| ended(&error))?;
    unused::check(&Cli::command(), &given)?;
    Cli::from_arg_matches(&given).map_err(|error| ended(&error.format(&mut program)))
}

/// Ends the program, unless it has to say that the help could not be printed.
fn ended(error: &clap::Error) -> Failure {
    if error.use_stderr() {
        error.exit();
    }
    match printed(|| error.print()) {
        Ok(()) => std::process::exit(error.exit_code()),
        Err(failure) => failure,
    }
}

/// The commands and options as help, completions and the manual list them.
fn program() -> clap::Command {
    unused::hidden(Cli::command())
}

/// Carries out what was asked.
///
/// # Errors
/// Whatever kept it from being done.
pub fn dispatch(cli: &Cli) -> Result<Exit, Failure> {
    let (measure, output) = (&cli.measure, &cli.output);
    let series = |name, comms| {
        applies::check(&[name], &comet::passing(), comms, &Ways::default())?;
        let named = Names { names: &[name], all: false };
        comms::run(name, &named, comms, &Ways::default(), measure, output)
    };
    match &cli.command {
        None | Some(Command::Run) => run::run(measure, output),
        Some(Command::Signature(signature)) => signature::run(signature, measure, output),
        Some(Command::Pairs) => pairs::run(measure, output),
        Some(Command::Bulk(bulk)) => bulk::run(bulk, measure, output),
        Some(Command::Comms1(c)) => series("comms1", c),
        Some(Command::Comms2(c)) => series("comms2", c),
        Some(Command::Comms3(c)) => series("comms3", c),
        Some(Command::Synch1) => series("synch1", &Comms::default()),
        Some(Command::Comet { names, comms: c, ways }) => {
            comet::comet(names, c, ways, measure, output)
        }
        Some(Command::Floor { names }) => floor::run(names, measure, output),
        Some(Command::Doctor) => doctor::run(measure, output),
        Some(Command::Topology) => topology::run(measure, output),
        Some(Command::Fit(fit)) => fit::run(fit, measure, output),
        Some(Command::Breakdown(of)) => breakdown::run(of, measure, output),
        Some(Command::Whatif(of)) => whatif::run(of, measure, output),
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut program(), "bandgap", &mut text);
            print(&text).map(|()| Exit::Fine)
        }
        Some(Command::Man) => {
            let mut text = Vec::new();
            clap_mangen::Man::new(program()).render(&mut text).class(Exit::Output)?;
            print(&text).map(|()| Exit::Fine)
        }
        Some(Command::Rank { .. }) => {
            Err(Failure::new(Exit::Usage, "start a rank by hand: ranks belong to a launcher"))
        }
    }
}

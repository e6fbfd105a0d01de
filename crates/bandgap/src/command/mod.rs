//! The command line. The name, help and call of each command are here; its arguments are in a file of its own.

mod against;
mod breakdown;
mod bulk;
mod comet;
mod compare;
mod components;
mod doctor;
mod export;
mod fit;
mod floor;
mod layers;
mod meant;
mod noise;
mod pairs;
mod pcie_trace;
mod replays;
mod report;
mod run;
mod runs;
mod series;
pub mod show;
mod signature;
mod simulate;
mod simulate_kernel;
mod topology;
mod validate;
mod watched;
mod whatif;

use std::fs::create_dir_all;
use std::path::{Path, PathBuf};

use bandgap_launch::{Adopted, Classify, Exit, Failure, Result, input};
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_mangen::generate_to;

use crate::args::{Measure, Output, Reach, With};
use crate::output::journal::{Earlier, Head};
use crate::output::{print, printed};
use against::Both;
use series::{Lengths, Series};

/// Most columns of help.
const WIDTH: usize = 100;

/// Measures how machines communicate, and fits the models people reason with.
///
/// Without a command: what this machine's transports are like, on one screen.
#[derive(Debug, Parser)]
#[command(name = "bandgap", version, propagate_version = true, max_term_width = WIDTH)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  bandgap                              characterise this machine
  bandgap show LAST --why              why values are in doubt, and what would help
  bandgap signature -t tcp             LogP parameters over TCP
  bandgap comms1 -t sim:ipsc860        a machine in virtual time
  bandgap doctor                       is this machine fit to measure on?")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub run: With<Both<run::Run>>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Signature and COMMS1 over shm, tcp and unix, on one screen (what bandgap does by itself)
    #[command(after_help = "Examples:
  bandgap run
  bandgap run --quick
  bandgap run --full --out monday")]
    Run(With<Both<run::Run>>),
    /// LogP parameters of small messages: send and receive overhead, gap, latency
    #[command(after_help = "Examples:
  bandgap signature
  bandgap signature -t tcp --wait block
  bandgap signature -n 4 --pairs         half of the ranks against the other half
  bandgap signature -n 4 --fan-out       one to many
  bandgap signature -n 4 --fan-in 3      many to one: the gap under contention
  bandgap signature -t sim:myrinet       a machine in virtual time
  bandgap signature --json - -q          numbers for a program")]
    Signature(With<Both<signature::Signature>>),
    /// Round trips and bandwidths between all pairs of ranks or hosts, and which host or link is slow
    #[command(after_help = "Examples:
  bandgap pairs
  bandgap pairs --cores 0-7 -t unix
  bandgap pairs -H a,b,c,d               between hosts: which of them, or which link, is slow
  bandgap pairs -t sim:paragon -n 8")]
    Pairs(With<pairs::Rounds>),
    /// Bulk transfers, store and get: time and bandwidth over sizes, overhead, gap
    #[command(after_help = "Examples:
  bandgap bulk
  bandgap bulk --get --sizes 4KiB:1MiB
  bandgap bulk -t tcp --no-surface       without the signatures")]
    Bulk(With<Both<bulk::Bulk>>),
    /// COMMS1: ping-pong of messages over sizes, fitted with r∞, n½, t0, π0
    #[command(after_help = "Examples:
  bandgap comms1
  bandgap comms1 --sizes 8,64KiB,1MiB
  bandgap comms1 -t tcp --breaks 64KiB
  bandgap comms1 -H a,b                  between two hosts, over TCP
  bandgap comms1 -t sim:ipsc860 --breaks 100")]
    Comms1(With<Both<Series>>),
    /// COMMS2: exchange of messages, both ways at once, fitted likewise
    #[command(after_help = "Examples:
  bandgap comms2
  bandgap comms2 -n 4 --between 0,3")]
    Comms2(With<Both<Series>>),
    /// COMMS3: all ranks exchange messages with all, total bandwidth
    #[command(after_help = "Examples:
  bandgap comms3
  bandgap comms3 -n 4 --sizes 1KiB:1MiB")]
    Comms3(With<Lengths>),
    /// SYNCH1: barriers of all ranks
    #[command(after_help = "Examples:
  bandgap synch1
  bandgap synch1 -n 2,4")]
    Synch1(Measure),
    /// Kernels of message passing by name, all_reduce and the like too; without a name, all of CoMet's
    #[command(after_help = "Examples:
  bandgap comet
  bandgap comet broadcast -n 2,4 --algorithm all
  bandgap comet all_reduce -n 4 --algorithm all --sizes 8,64KiB
  bandgap comet echo exchange --sizes 0:64KiB
  bandgap comet -t sim:ipsc860 -n 16")]
    Comet(With<Both<comet::Comet>>),
    /// One kernel over several transports: what each layer costs more than the one before
    #[command(after_help = "Examples:
  bandgap layers comms1 -t shm,unix,tcp
  bandgap layers echo -t shm,mpi --sizes 8,64KiB
  bandgap layers echo -t ucx:posix,mpi       UCX's transport layer, its messages, the MPI
  bandgap layers barrier -t shm,tcp,mpi -n 2")]
    Layers(With<layers::Layers>),
    /// Plain loops on this machine: cache line, slot ring, copies, raw sockets, clock, system call
    #[command(after_help = "Examples:
  bandgap floor
  bandgap floor cache_line tcp
  bandgap floor -t ucx:posix,ofi:tcp         UCX's and libfabric's own calls")]
    Floor(floor::Floors),
    /// Is this machine fit to measure on? Graded, with what to do; and its MPIs, UCX and libfabric
    #[command(after_help = "Examples:
  bandgap doctor
  bandgap doctor -H a,b
  bandgap doctor --json -")]
    Doctor(doctor::Doctor),
    /// Processors, caches, memory nodes, and the distances between processors
    #[command(after_help = "Examples:
  bandgap topology
  bandgap topology -H a,b
  bandgap topology --json -")]
    Topology {
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        reach: Reach,
    },
    /// A kept run again: one screen, all of it (-v), or the causes of doubt (--why)
    #[command(after_help = "Examples:
  bandgap show                               the kept runs
  bandgap show LAST --why
  bandgap show LAST -v logp/tcp
  bandgap show LAST logp/shm/rtt --value     a number and its unit alone")]
    Show(show::Show),
    /// Two runs: same, slower, faster, or what would tell
    #[command(after_help = compare::HELP)]
    Compare(compare::Compare),
    /// A kept run as a page for a browser: one file, which needs no network
    #[command(after_help = "Examples:
  bandgap report
  bandgap report LAST --open
  bandgap report LAST -o report.html")]
    Report(report::Report),
    /// Parameters from a table of numbers, with no measurement
    #[command(
        subcommand,
        after_help = "Examples:
  bandgap fit logp samples.csv
  bandgap fit hockney times.csv
  osu_latency | bandgap fit hockney -"
    )]
    Fit(fit::Fit),
    /// Where the time of a message goes: components, models over them, and what follows
    #[command(after_help = breakdown::HELP)]
    Breakdown(Box<breakdown::Breakdown>),
    /// What faster or slower components would bring
    #[command(after_help = whatif::HELP)]
    Whatif(whatif::WhatIf),
    /// A kernel, or a schedule in GOAL, on a machine that is not here: when its ranks end, and on what that depends
    #[command(after_help = simulate::HELP)]
    Simulate(simulate::Simulate),
    /// For other programs: a run as a machine, for LogGOPSim and SimGrid, as CSV; a kernel as GOAL, a replay as a timeline
    #[command(after_help = export::HELP)]
    Export(export::Export),
    /// Shell completions on standard output
    #[command(after_help = "Examples:
  bandgap completions bash > ~/.local/share/bash-completion/completions/bandgap")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// The manual page on standard output, or into a directory one for each command
    #[command(after_help = "Examples:
  bandgap man > bandgap.1
  bandgap man ~/.local/share/man/man1    then: man bandgap-comms1")]
    Man {
        /// The directory of all pages, made where it is not there
        directory: Option<PathBuf>,
    },
}

/// Parses the command line. A wrong one ends the program here, as help does. Of several adopted processes, only the first
/// prints.
///
/// # Errors
/// A word means another command, or help could not be printed.
pub fn parse(adopted: Option<&Adopted>) -> Result<Cli> {
    let plain = adopted.map_or(ColorChoice::Auto, |_| ColorChoice::Never);
    let matches = helpful(Cli::command().color(plain)).try_get_matches();
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    cli.or_else(|error| {
        if adopted.is_none_or(|adopted| adopted.rank == 0) {
            if let Some(failure) = meant::answer(&error) {
                return Err(failure);
            }
            if error.use_stderr() {
                error.exit();
            }
            printed(|| error.print())?;
        }
        std::process::exit(error.exit_code())
    })
}

/// Makes the run of what a killed one has left in this directory.
///
/// # Errors
/// Its journal cannot be read, or the run cannot be written.
pub fn take_up(directory: &Path) -> Result<()> {
    let Head { command: words, adopted, native, .. } = Earlier::read(directory)?.head;
    let mut cli = Cli::try_parse_from(words).map_err(|error| {
        let why = error.render().to_string();
        let why = why.lines().next().unwrap_or_default();
        input!("read the command of {}: {why}", directory.display())
    })?;
    // A file must not make this program do anything else.
    let Some(output) = journalled(&mut cli) else {
        let what = directory.display();
        return Err(input!("use the journal in {what}: its command measures nothing"));
    };
    output.take_up = Some(directory.to_owned());
    if let (Some((measure, _)), Some((by, size))) = (measured(&mut cli), adopted) {
        measure.adopted = Adopted::earlier(&by, size);
        measure.native = native.and_then(|name| name.parse().ok());
    }
    dispatch(&cli).map(|_| ())
}

/// The output of a command that measures, and keeps a journal.
fn journalled(cli: &mut Cli) -> Option<&mut Output> {
    match cli.command {
        Some(Command::Layers(With { ref mut measure, .. })) => Some(&mut measure.output),
        Some(Command::Floor(ref mut of)) => Some(&mut of.output),
        _ => measured(cli).map(|(measure, _)| &mut measure.output),
    }
}

/// The options of a command in which adopted processes can take part, and whether all of them do by default.
pub fn measured(cli: &mut Cli) -> Option<(&mut Measure, bool)> {
    match &mut cli.command {
        None => Some((&mut cli.run.measure, false)),
        Some(
            Command::Run(With { measure, .. })
            | Command::Signature(With { measure, .. })
            | Command::Bulk(With { measure, .. })
            | Command::Comms1(With { measure, .. })
            | Command::Comms2(With { measure, .. }),
        ) => Some((measure, false)),
        Some(Command::Breakdown(of)) if [&of.source.from, &of.trace.pcie_trace] == [&None; 2] => {
            Some((&mut of.measure, false))
        }
        Some(
            Command::Comms3(With { measure, .. })
            | Command::Comet(With { measure, .. })
            | Command::Pairs(With { measure, .. })
            | Command::Synch1(measure),
        ) => Some((measure, true)),
        _ => None,
    }
}

/// A command whose manual pages explain the options, too, that `-h` leaves out.
fn in_full(command: clap::Command) -> clap::Command {
    command.mut_args(|option| option.hide_short_help(false)).mut_subcommands(in_full)
}

/// The commands by what one wants of them; the last group has all others.
const GROUPS: [(&str, &str); 5] = [
    ("Measure (between hosts with -H)", "run signature comms1 comms2 comms3 synch1 bulk comet"),
    ("Find what is slow", "pairs layers floor breakdown"),
    ("Predict", "whatif fit simulate"),
    ("Look at runs", "show compare report export"),
    ("Set up", ""),
];

/// The command line with a help that groups its commands, if a word asks for help.
fn helpful(mut cli: clap::Command) -> clap::Command {
    if !std::env::args_os().any(|word| ["-h", "--help", "help"].iter().any(|of| word == *of)) {
        return cli;
    }
    cli.build();
    let style = cli.get_styles().get_header();
    let group = |of: &clap::Command| {
        let has = |names: &str| names.split(' ').any(|name| name == of.get_name());
        GROUPS.iter().position(|(_, names)| names.is_empty() || has(names))
    };
    let list = |(at, (title, _)): (usize, &(&str, &str))| {
        let own = cli.get_subcommands().filter(|of| group(of) == Some(at)).cloned();
        let list = clap::Command::new("").disable_help_subcommand(true).max_term_width(WIDTH);
        let list = list.help_template("{subcommands}").subcommands(own).render_help();
        format!("{style}{title}:{style:#}\n{}\n", list.ansi())
    };
    let groups: String = GROUPS.iter().enumerate().map(list).collect();
    let text =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{{all-args}}");
    cli.mut_subcommands(|of| of.hide(true))
        .override_usage("bandgap [OPTIONS] [COMMAND]")
        .help_template(text + "{after-help}")
}

/// Carries out the command.
///
/// # Errors
/// The failure of the command.
pub fn dispatch(cli: &Cli) -> Result<Exit> {
    match &cli.command {
        None => cli.run.of.run(&cli.run.measure, run::run),
        Some(Command::Run(With { of, measure })) => of.run(measure, run::run),
        Some(Command::Signature(With { of, measure })) => of.run(measure, signature::run),
        Some(Command::Pairs(With { of, measure })) => pairs::run(*of, &measure.everywhere()?),
        Some(Command::Bulk(With { of, measure })) => of.run(measure, bulk::run),
        Some(Command::Comms1(With { of, measure })) => {
            of.run(measure, |of, measure| series::run("comms1", of, measure))
        }
        Some(Command::Comms2(With { of, measure })) => {
            of.run(measure, |of, measure| series::run("comms2", of, measure))
        }
        Some(Command::Comms3(With { of, measure })) => {
            let series = Series { lengths: of.clone(), ..Series::default() };
            series::run("comms3", &series, &measure.everywhere()?)
        }
        Some(Command::Synch1(measure)) => {
            series::run("synch1", &Series::default(), &measure.everywhere()?)
        }
        Some(Command::Comet(With { of, measure })) => {
            of.run(measure, |of, measure| comet::run(of, &measure.everywhere()?))
        }
        Some(Command::Layers(With { of, measure })) => layers::run(of, measure),
        Some(Command::Floor(of)) => floor::run(of),
        Some(Command::Doctor(of)) => doctor::run(of),
        Some(Command::Topology { output, reach }) => topology::run(output, reach),
        Some(Command::Show(of)) => show::run(of),
        Some(Command::Compare(of)) => compare::run(of),
        Some(Command::Report(of)) => report::run(of),
        Some(Command::Fit(of)) => fit::run(of),
        Some(Command::Breakdown(of)) => breakdown::run(of),
        Some(Command::Whatif(of)) => whatif::run(of),
        Some(Command::Simulate(of)) => match simulate::kernel(&of.schedule) {
            _ if of.validate => validate::run(of),
            Some(kernel) => simulate_kernel::run(of, kernel),
            None => simulate::run(of),
        },
        Some(Command::Export(of)) => export::run(of),
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "bandgap", &mut text);
            print(&text).map(|()| Exit::Fine)
        }
        Some(Command::Man { directory: Some(directory) }) => {
            let made = create_dir_all(directory);
            let written = made.and_then(|()| generate_to(in_full(Cli::command()), directory));
            let failed = |error| format!("write to {}: {error}", directory.display());
            written.map(|()| Exit::Fine).map_err(|error| Failure::new(Exit::Output, failed(error)))
        }
        Some(Command::Man { directory: None }) => {
            let mut text = Vec::new();
            clap_mangen::Man::new(in_full(Cli::command())).render(&mut text).class(Exit::Output)?;
            print(&text).map(|()| Exit::Fine)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_groups_name_are_commands() {
        let all = Cli::command();
        let names = GROUPS.iter().flat_map(|(_, names)| names.split_whitespace());
        assert!(names.clone().count() > 9);
        assert!(names.clone().all(|name| all.find_subcommand(name).is_some()));
    }
}

//! `./soak`: see the library.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bandgap_soak::SoakError;
use bandgap_soak::campaign::{Campaign, controls, quick, shared};
use bandgap_soak::faults::{ALL, Group, named};
use bandgap_soak::lower::Lower;
use bandgap_soak::stopped::Stopped;
use bandgap_soak::subject::demand_all;
use bandgap_soak::udp::Udp;
use bandgap_soak::under::{UNDER_FAILED, Under};
use clap::{Parser, Subcommand};

/// Runs bandgap over and over under faults drawn from a seed, and says what did not hold.
///
/// Of each trial it checks that the run ends, with the documented exit code of what happened and a message that names it,
/// that everything measured until then is kept and can be read, and that nothing of the run is left. Ends with 1 if
/// something did not hold.
#[derive(Debug, Parser)]
#[command(name = "soak", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    mode: Option<Mode>,
    /// Trials with signals
    #[arg(long, value_name = "N", default_value_t = 1000)]
    kills: u64,
    /// Trials with other faults
    #[arg(long, value_name = "N", default_value_t = 1000)]
    trials: u64,
    /// From which everything is drawn
    #[arg(long, value_name = "N", default_value_t = 1, global = true)]
    seed: u64,
    /// The short form: one trial of each fault that does not take long by its nature
    #[arg(long, conflicts_with_all = ["kills", "trials", "fault"])]
    quick: bool,
    /// Only this fault, in as many trials as --trials says
    #[arg(long, value_name = "NAME")]
    fault: Option<String>,
    /// Only the trial of this number, of the fault that --fault names
    #[arg(long, value_name = "NUMBER", requires = "fault")]
    trial: Option<u64>,
    /// The program under test
    #[arg(long, value_name = "PATH", global = true, default_value = "target/debug/bandgap")]
    binary: PathBuf,
    /// Trials at once: more than there are processors disturb each other
    #[arg(long, value_name = "N", default_value_t = 1, global = true)]
    jobs: usize,
    /// Keep the directories of failed trials, and say where
    #[arg(long)]
    keep: bool,
}

#[derive(Debug, Subcommand)]
enum Mode {
    /// Every kernel over udp with loss, duplication, reordering and corruption
    ///
    /// Before each round every point has a checked batch, in which each message is compared with what was sent. It has none
    /// when the time budget is spent, and where there is no room for a place for each message: the column `left out`
    /// counts points without any. Ends with 1 if a run failed, left a message of a checked batch uncompared, or compared
    /// none at all.
    Udp {
        /// Runs of each kernel
        #[arg(long, value_name = "N", default_value_t = 100)]
        runs: u64,
        /// Time of a measurement
        #[arg(long, value_name = "TIME", default_value = "2s")]
        time_budget: String,
        /// Only commands with this word
        #[arg(long, value_name = "WORD")]
        only: Option<String>,
        /// Seconds that a run may take: longer ones are killed, and have failed
        #[arg(long, value_name = "SECONDS", default_value_t = 600)]
        limit: u64,
    },
    /// The faults
    List,
    /// Sets limits on itself and becomes another program
    #[command(hide = true)]
    Under(Under),
    /// Lowers limits of another process
    #[command(hide = true)]
    Lower(Lower),
}

/// Trials without a fault in a short campaign.
const FEW_CONTROLS: usize = 3;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(Mode::Under(limits)) = &cli.mode {
        return under(limits);
    }
    let done = match &cli.mode {
        Some(Mode::Lower(limits)) => limits.lower().map(|()| true),
        _ => carry_out(cli),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: failed to {error}");
            ExitCode::from(2)
        }
    }
}

/// Becomes another program, or says in a code of its own that it could not.
fn under(under: &Under) -> ExitCode {
    if let Err(error) = under.become_program() {
        eprintln!("soak: failed to {error}");
    }
    ExitCode::from(UNDER_FAILED)
}

fn carry_out(cli: Cli) -> Result<bool, SoakError> {
    if let Some(Mode::List) = cli.mode {
        ALL.iter().for_each(|fault| println!("{}", fault.name));
        return Ok(true);
    }
    let stopped = Stopped::by_signals()?;
    let absent = |_| SoakError::NoBinary { path: cli.binary.clone() };
    let binary = cli.binary.canonicalize().map_err(absent)?;
    if let Some(Mode::Udp { runs, time_budget, only, limit }) = cli.mode {
        let (seed, jobs, limit) = (cli.seed, cli.jobs, Duration::from_secs(limit));
        return Udp { binary, runs, seed, budget: time_budget, jobs, stopped, only, limit }.run();
    }
    if cli.fault.is_none() {
        demand_all(&binary)?;
    }
    let trials = match (&cli.fault, cli.trial) {
        (Some(name), Some(trial)) => vec![(named(name)?, trial)],
        (Some(name), None) => {
            let fault = named(name)?;
            controls(FEW_CONTROLS).chain((0..cli.trials).map(|number| (fault, number))).collect()
        }
        (None, _) if cli.quick => controls(FEW_CONTROLS).chain(quick()).collect(),
        (None, _) => {
            let kills = shared(Group::Kills, cli.kills);
            controls(usize::MAX).chain(kills).chain(shared(Group::Others, cli.trials)).collect()
        }
    };
    let driver = std::env::current_exe()
        .map_err(|source| SoakError::System { what: "find this program".to_owned(), source })?;
    let Cli { seed, jobs, keep, .. } = cli;
    Ok(Campaign { binary, driver, seed, jobs, stopped, keep, trials }.run())
}

//! The program behind `./soak`; see the library.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use bandgap_soak::checks::{broken, was_late};
use bandgap_soak::faults::{ALL, Fault};
use bandgap_soak::plan::Plan;
use bandgap_soak::trial::{Tried, carry_out};
use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Runs bandgap repeatedly under faults drawn from a seed, and reports what goes wrong.
///
/// In each trial it checks that the run ends in time with an allowed exit code, that all results
/// measured until then are kept and can be read, and that no process or file is left behind. Exits
/// with 1 if a check failed.
#[derive(Debug, Parser)]
#[command(name = "soak", max_term_width = 100)]
struct Cli {
    /// Number of trials; the faults take turns
    #[arg(long, value_name = "N", default_value_t = 1000)]
    trials: u64,
    /// Seed from which everything is drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// One trial of each fault, except those that always take long
    #[arg(long, conflicts_with_all = ["trials", "fault"])]
    quick: bool,
    /// Only this fault
    #[arg(long, value_name = "NAME", value_parser = fault)]
    fault: Option<&'static Fault>,
    /// Only the trial with this number, of the fault given with --fault
    #[arg(long, value_name = "NUMBER", requires = "fault")]
    trial: Option<u64>,
    /// Program under test
    #[arg(long, value_name = "PATH", default_value = "target/debug/bandgap")]
    binary: PathBuf,
    /// Trials at the same time; more than the number of processors disturb each other
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Keep the directories of failed trials
    #[arg(long)]
    keep: bool,
}

fn fault(name: &str) -> Result<&'static Fault, String> {
    ALL.iter().find(|fault| fault.name == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|fault| fault.name).collect();
        format!("no such fault; use one of {}", known.join(", "))
    })
}

impl Cli {
    /// The trials to carry out.
    fn plans(&self) -> Vec<Plan> {
        let plan = |(fault, number)| Plan::draw(self.seed, fault, number);
        let faults: Vec<&'static Fault> = match self.fault {
            Some(fault) => vec![fault],
            None => ALL.iter().filter(|fault| !self.quick || !fault.takes_long()).collect(),
        };
        if let (Some(fault), Some(number)) = (self.fault, self.trial) {
            return vec![plan((fault, number))];
        }
        let count = if self.quick { faults.len() } else { self.trials as usize };
        let turns = (0..).flat_map(|turn| faults.iter().map(move |fault| (*fault, turn)));
        turns.take(count).map(plan).collect()
    }
}

/// Outcomes of the trials of one fault.
#[derive(Default)]
struct Tally {
    trials: usize,
    failed: usize,
    late: usize,
    skipped: usize,
}

fn main() -> ExitCode {
    match carry_out_all(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::from(2)
        }
    }
}

fn carry_out_all(cli: &Cli) -> io::Result<bool> {
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stopped))?;
    }
    let binary = cli.binary.canonicalize()?;
    let plans = cli.plans();
    let (next, tallies) = (AtomicUsize::new(0), Mutex::new(BTreeMap::<&str, Tally>::new()));
    let work = || -> io::Result<()> {
        while let Some(plan) = plans.get(next.fetch_add(1, Ordering::Relaxed))
            && !stopped.load(Ordering::Relaxed)
        {
            let tried =
                carry_out(plan, &binary, |seen| cli.keep && !broken(plan, seen).is_empty())?;
            let mut tallies = tallies.lock().unwrap_or_else(PoisonError::into_inner);
            let tally = tallies.entry(plan.fault.name).or_default();
            tally.trials += 1;
            match tried {
                Tried::Skipped(why) => {
                    tally.skipped += 1;
                    println!("SKIPPED: {}: {why}", plan.fault.name);
                }
                Tried::Seen(seen, kept) => {
                    let broken = broken(plan, &seen);
                    tally.late += usize::from(was_late(plan, &seen));
                    tally.failed += usize::from(!broken.is_empty());
                    if !broken.is_empty() {
                        println!(
                            "FAILED: {}\n  bandgap {}",
                            plan.repeats(),
                            plan.words("DIR").join(" ")
                        );
                        broken.iter().for_each(|what| println!("  {what}"));
                        kept.iter().for_each(|path| println!("  kept in {}", path.display()));
                    }
                }
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cli.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(_) => Err(io::Error::other("a trial panicked")),
        })
    })?;
    let tallies = tallies.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("\n{:<22}{:>8}{:>8}{:>8}{:>8}", "fault", "trials", "failed", "late", "skipped");
    for (name, Tally { trials, failed, late, skipped }) in &tallies {
        println!("{name:<22}{trials:>8}{failed:>8}{late:>8}{skipped:>8}");
    }
    let failed: usize = tallies.values().map(|tally| tally.failed).sum();
    Ok(failed == 0 && !stopped.load(Ordering::Relaxed))
}

//! Every kernel over datagrams of which many go wrong, with all data compared.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::SoakError;
use crate::each::each;
use crate::error::Doing;
use crate::kept::{Kept, kept};
use crate::place::Place;
use crate::stopped::Stopped;

/// What goes wrong, as `--udp-faults` takes it; a seed follows.
pub const FAULTS: &str = "loss=30%,duplicate=10%,reorder=10%,corrupt=1%,";

/// Commands, and the kernels that each of them runs.
const COMMANDS: &[(&str, &[&str])] = &[
    ("signature", &["burst", "ping_pong"]),
    ("signature -n 3 --fan-in 2", &["fan_in"]),
    ("bulk --sizes 8:16KiB --no-surface --store", &["store"]),
    ("bulk --sizes 8:16KiB --no-surface --get", &["get"]),
    ("comms1 --sizes 0:16KiB", &["comms1"]),
    ("comms2 --sizes 0:16KiB", &["comms2"]),
    ("comms3 -n 3 --sizes 0:4KiB", &["comms3"]),
    ("synch1 -n 3", &["synch1"]),
    ("comet broadcast -n 3 --sizes 0:4KiB --algorithm all", &["broadcast"]),
    ("comet global_sum -n 3 --sizes 0:4KiB --algorithm all", &["global_sum"]),
    ("comet overlap --sizes 0:4KiB", &["overlap"]),
    ("comet contention -n 4 --sizes 0:4KiB", &["contention"]),
    ("comet message_costs --sizes 0:4KiB", &["message_costs"]),
    ("comet update_guard -n 4 --dimension 8:16", &["update_guard"]),
    ("comet shift_north -n 4 --dimension 8:16", &["shift_north"]),
    ("comet shift_east -n 4 --dimension 8:16", &["shift_east"]),
    ("comet transpose -n 4 --dimension 8:16", &["transpose"]),
    ("comet row_broadcast -n 4 --dimension 8:16", &["row_broadcast"]),
    ("comet column_broadcast -n 4 --dimension 8:16", &["column_broadcast"]),
];

/// Runs of every kernel.
#[derive(Clone, Debug)]
pub struct Udp {
    /// The program under test.
    pub binary: PathBuf,
    /// Runs of each command.
    pub runs: u64,
    /// From which the faults are drawn.
    pub seed: u64,
    /// `--time-budget`.
    pub budget: String,
    /// Runs at once.
    pub jobs: usize,
    /// Whether to begin no more.
    pub stopped: Stopped,
    /// Only commands with this word.
    pub only: Option<String>,
}

/// What came of the runs of one command.
#[derive(Clone, Default)]
struct Came {
    failed: u64,
    compared: u64,
    batches: u64,
}

impl Udp {
    /// Carries out all runs, and prints a line for each command. Returns whether all data was right.
    ///
    /// # Errors
    /// The driver could not do its own part.
    pub fn run(&self) -> Result<bool, SoakError> {
        let named = |(command, _): &&(&str, _)| {
            self.only.as_ref().is_none_or(|only| command.split(' ').any(|word| word == only))
        };
        let commands: Vec<&str> =
            COMMANDS.iter().filter(named).map(|(command, _)| *command).collect();
        let runs: Vec<(usize, u64)> = (0..self.runs)
            .flat_map(|number| (0..commands.len()).map(move |at| (at, number)))
            .collect();
        let came = Mutex::new(vec![Came::default(); commands.len()]);
        let error = each(self.jobs, &self.stopped, &runs, |&(at, number)| {
            let seed = self.seed.wrapping_add(number);
            let once = self.once(commands[at], seed)?;
            let mut came = came.lock().unwrap_or_else(PoisonError::into_inner);
            match once {
                Ok(kept) => {
                    came[at].compared += kept.compared;
                    came[at].batches += kept.batches;
                }
                Err((words, why)) => {
                    came[at].failed += 1;
                    println!("FAILED: {} {}\n  {why}", self.binary.display(), words.join(" "));
                }
            }
            Ok(())
        });
        println!(
            "\n{:<50}{:>6}{:>8}{:>10}{:>10}",
            "command", "runs", "failed", "compared", "batches"
        );
        let came = came.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (command, Came { failed, compared, batches }) in commands.iter().zip(&came) {
            println!("{command:<50}{:>6}{failed:>8}{compared:>10}{batches:>10}", self.runs);
        }
        error.map(|()| came.iter().all(|came| came.failed == 0))
    }

    /// What is kept of one run, or the command and why it is not right.
    fn once(
        &self,
        command: &str,
        seed: u64,
    ) -> Result<Result<Kept, (Vec<String>, String)>, SoakError> {
        let place = Place::new(None)?;
        let faults = format!("{FAULTS}seed={seed}");
        // Ranks sleep while they wait, so that many runs fit on a processor: most of the time passes in waiting for what
        // was lost.
        let more = ["-t", "udp", "--check", "--wait", "block", "--deadline", "60s", "--quiet"];
        let own = ["--udp-faults", &faults, "--time-budget", &self.budget, "--out", "run"];
        let words = command.split(' ').chain(more).chain(own);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let run = Command::new(&self.binary)
            .args(&words)
            .current_dir(place.work())
            .env("TMPDIR", place.temporary())
            .stdin(Stdio::null())
            .output()
            .doing(|| format!("start {}", self.binary.display()))?;
        // Before the first timed batch every point has had one in which each message is compared; a difference ends the
        // run with another code.
        let why = match (run.status.code(), kept(&place.run())) {
            (Some(0 | 8), Ok(Some(kept))) if kept.unchecked > 0 => {
                format!("{} messages were not compared", kept.unchecked)
            }
            (Some(0 | 8), Ok(Some(kept))) if kept.results > 0 => return Ok(Ok(kept)),
            (Some(0 | 8), Ok(_)) => "nothing was measured".to_owned(),
            (_, Err(error)) => error,
            _ => format!("{}: {}", run.status, String::from_utf8_lossy(&run.stderr).trim()),
        };
        Ok(Err((words, why)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kernel_there_is_is_run() {
        let run: BTreeSet<&str> =
            COMMANDS.iter().flat_map(|(_, kernels)| *kernels).copied().collect();
        let facts = bandgap_kernels::facts();
        let mut there: BTreeSet<&str> = facts.iter().map(|fact| fact.name).collect();
        // Only a layer over shared memory: no command runs it over anything else.
        assert!(there.remove("stream"));
        assert_eq!(run, there);
    }
}

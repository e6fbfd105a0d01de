//! Every kernel over datagrams of which many go wrong, with all data compared.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::SoakError;
use crate::error::Doing;
use crate::kept::kept;
use crate::place::Place;

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
    /// Only commands with this word.
    pub only: Option<String>,
}

impl Udp {
    /// Carries out all runs, and prints a line for each command. Returns whether all data was right.
    ///
    /// # Errors
    /// The driver could not do its own part.
    pub fn run(&self) -> Result<bool, SoakError> {
        println!("{:<58}{:>6}{:>8}{:>12}", "command", "runs", "failed", "compared");
        let mut well = true;
        for (command, _) in COMMANDS {
            let named = |only: &String| command.split(' ').any(|word| word == only);
            if self.only.as_ref().is_some_and(|only| !named(only)) {
                continue;
            }
            let (mut failed, mut compared) = (0, 0);
            for number in 0..self.runs {
                let seed = self.seed.wrapping_add(number);
                match self.once(command, seed)? {
                    Ok(messages) => compared += messages,
                    Err((words, why)) => {
                        failed += 1;
                        println!("FAILED: {} {}\n  {why}", self.binary.display(), words.join(" "));
                    }
                }
            }
            println!("{command:<58}{:>6}{failed:>8}{compared:>12}", self.runs);
            well &= failed == 0;
        }
        Ok(well)
    }

    /// How many messages were compared in one run, or the command and why it is not right.
    fn once(
        &self,
        command: &str,
        seed: u64,
    ) -> Result<Result<u64, (Vec<String>, String)>, SoakError> {
        let place = Place::new(None)?;
        let faults = format!("{FAULTS}seed={seed}");
        let more = ["-t", "udp", "--check", "--deadline", "60s", "--precision", "0.1%", "--quiet"];
        let own = ["--udp-faults", &faults, "--time-budget", &self.budget, "--out", "run"];
        let words = command.split(' ').chain(more).chain(own);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let run = Command::new(&self.binary)
            .args(&words)
            .current_dir(place.work())
            .env("TMPDIR", place.temporary())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .output()
            .doing(|| format!("start {}", self.binary.display()))?;
        let why = match (run.status.code(), kept(&place.run())) {
            (Some(0 | 8), Ok(Some(kept))) if kept.unchecked > 0 => {
                format!("{} messages were not compared", kept.unchecked)
            }
            (Some(0), Ok(Some(kept))) if kept.compared == 0 => "nothing was compared".to_owned(),
            (Some(0 | 8), Ok(Some(kept))) => return Ok(Ok(kept.compared)),
            (Some(0 | 8), Ok(None)) => "nothing is kept".to_owned(),
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
        let there: BTreeSet<&str> = facts.iter().map(|fact| fact.name).collect();
        assert_eq!(run, there);
    }
}

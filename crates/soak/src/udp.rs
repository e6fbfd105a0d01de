//! Every kernel over datagrams of which many go wrong, with batches in which every message is compared.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::SoakError;
use crate::each::each;
use crate::error::Doing;
use crate::kept::{Kept, kept};
use crate::place::Place;
use crate::stopped::Stopped;

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

/// Kernels whose messages have no contents to compare.
const EMPTY: &[&str] = &["synch1"];

/// Between two looks at a run.
const LOOK: Duration = Duration::from_millis(20);

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
    /// The most that a run may take.
    pub limit: Duration,
}

/// What came of the runs of one command.
#[derive(Clone, Default)]
struct Came {
    runs: u64,
    failed: u64,
    /// Runs that measured too little for a result.
    too_little: u64,
    compared: u64,
    /// Points without a batch in which every message is compared.
    left_out: u64,
    batches: u64,
}

impl Udp {
    /// Carries out all runs, and prints a line for each command. Returns whether all that was compared was right.
    ///
    /// # Errors
    /// The driver could not do its own part.
    pub fn run(&self) -> Result<bool, SoakError> {
        let named = |(command, _): &&(&str, _)| {
            self.only.as_ref().is_none_or(|only| command.split(' ').any(|word| word == only))
        };
        let commands: Vec<(&str, bool)> = COMMANDS.iter().filter(named).map(compares).collect();
        if let (true, Some(word)) = (commands.is_empty(), &self.only) {
            return Err(SoakError::NoCommand { word: word.clone() });
        }
        let runs: Vec<(usize, u64)> = (0..self.runs)
            .flat_map(|number| (0..commands.len()).map(move |at| (at, number)))
            .collect();
        let came = Mutex::new(vec![Came::default(); commands.len()]);
        let error = each(self.jobs, &self.stopped, &runs, |&(at, number)| {
            let seed = self.seed.wrapping_add(number);
            let (command, compares) = commands[at];
            let Some(once) = self.once(command, compares, seed)? else { return Ok(()) };
            let mut came = came.lock().unwrap_or_else(PoisonError::into_inner);
            came[at].runs += 1;
            match once {
                Ok((code, kept)) => {
                    came[at].too_little += u64::from(code == 8);
                    came[at].compared += kept.compared;
                    came[at].left_out += kept.left_out;
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
            "\n{:<50}{:>6}{:>8}{:>6}{:>10}{:>10}{:>10}",
            "command", "runs", "failed", "8", "compared", "left out", "batches"
        );
        let came = came.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut well = true;
        for ((command, _), came) in commands.iter().zip(&came) {
            let Came { runs, failed, too_little, compared, left_out, batches } = came;
            println!(
                "{command:<50}{runs:>6}{failed:>8}{too_little:>6}{compared:>10}{left_out:>10}{batches:>10}"
            );
            well &= *failed == 0;
        }
        if self.stopped.is() {
            println!("stopped by a signal: not all runs were carried out");
        }
        error.map(|()| well && !self.stopped.is())
    }

    /// What is kept of one run, or the command and why it is not right; `None` if a signal has asked for the end.
    fn once(&self, command: &str, compares: bool, _seed: u64) -> Result<Option<Once>, SoakError> {
        let place = Place::new(None)?;
        // Ranks sleep while they wait, so that many runs fit on a processor: most of the time passes in waiting for what
        // was lost.
        let more = ["-t", "udp", "--check", "--wait", "block", "--deadline", "60s", "--quiet"];
        let own = ["--time-budget", &self.budget, "--out", "run"];
        let words = command.split(' ').chain(more).chain(own);
        let words: Vec<String> = words.map(str::to_owned).collect();
        let what = || format!("start {}", self.binary.display());
        let said = tempfile::NamedTempFile::new().doing(|| "make a file".to_owned())?;
        let mut run = Command::new(&self.binary)
            .args(&words)
            .current_dir(place.work())
            .env("TMPDIR", place.temporary())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said.reopen().doing(|| "open a file".to_owned())?)
            .process_group(0)
            .spawn()
            .doing(what)?;
        let status = match self.ended(&mut run)? {
            Ended::So(status) => status,
            Ended::Stopped => return Ok(None),
            Ended::TooLate => {
                let seconds = self.limit.as_secs_f64();
                let why = format!("it did not end within {seconds} s, and was killed");
                return Ok(Some(Err((words, why))));
            }
        };
        let message = fs::read(said.path()).unwrap_or_default();
        // Before each round every point has a batch in which each message is compared, while there is time and room for it;
        // a difference ends the run with another code.
        let why = match (status.code(), kept(&place.run())) {
            (Some(0 | 8), Ok(Some(kept))) if kept.unchecked > 0 => {
                format!("{} messages were not compared", kept.unchecked)
            }
            (Some(0 | 8), Ok(Some(kept))) if compares && kept.results > 0 && kept.compared == 0 => {
                "nothing was compared".to_owned()
            }
            (Some(code @ (0 | 8)), Ok(Some(kept))) if kept.results > 0 => {
                return Ok(Some(Ok((code, kept))));
            }
            (Some(0 | 8), Ok(_)) => "nothing was measured".to_owned(),
            (_, Err(error)) => error,
            _ => format!("{status}: {}", String::from_utf8_lossy(&message).trim()),
        };
        Ok(Some(Err((words, why))))
    }

    /// How a run ended. One that does not by itself within its time, or when a signal asks for it, is killed.
    fn ended(&self, run: &mut Child) -> Result<Ended, SoakError> {
        let what = || "wait for the program".to_owned();
        let began = Instant::now();
        loop {
            if let Some(status) = run.try_wait().doing(what)? {
                return Ok(Ended::So(status));
            }
            let stopped = self.stopped.is();
            if stopped || began.elapsed() > self.limit {
                // One that has ended meanwhile is what is wanted.
                let _ = kill_process_group(Pid::from_child(run), Signal::KILL);
                run.wait().doing(what)?;
                return Ok(if stopped { Ended::Stopped } else { Ended::TooLate });
            }
            sleep(LOOK);
        }
    }
}

/// The exit code of a run and what is kept, or the command that failed and why.
type Once = Result<(i32, Kept), (Vec<String>, String)>;

enum Ended {
    So(ExitStatus),
    Stopped,
    TooLate,
}

/// A command, and whether one of its kernels compares what arrives.
fn compares(&(command, kernels): &(&'static str, &[&str])) -> (&'static str, bool) {
    (command, kernels.iter().any(|kernel| !EMPTY.contains(kernel)))
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

//! A run watched from outside: its rank processes, and what must be gone once it has ended.

use std::collections::BTreeSet;
use std::fs;
use std::io::{PipeReader, PipeWriter, Read, pipe};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bandgap_soak::processes::Process;
use bandgap_soak::sockets;
use rustix::process::{Pid, Signal, kill_process};

use crate::program::subject::{BINARY, Finished, PATIENCE, Place};

/// Names the environment variable by which a run's processes are told from all others.
const MARK: &str = "BANDGAP_TEST_RUN";

/// A run under way.
pub struct Watched<'a> {
    place: &'a Place,
    launcher: Child,
    stdout: PipeReader,
    /// What was read of its standard error so far.
    told: Vec<u8>,
    mark: String,
    ranks: usize,
    sockets: BTreeSet<u64>,
}

/// Asks until there is an answer.
#[track_caller]
pub fn poll<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl<'a> Watched<'a> {
    /// Starts bandgap on `ranks` ranks.
    pub fn start(place: &'a Place, ranks: usize, args: &[&str]) -> Self {
        Self::start_program(place, BINARY, ranks, args)
    }

    /// The same with bandgap under another path, or what becomes it.
    pub fn start_program(place: &'a Place, program: &str, ranks: usize, args: &[&str]) -> Self {
        Self::start_into(pipe().unwrap(), place, program, ranks, args)
    }

    /// The same, printing into this pipe.
    pub fn start_into(
        (stdout, theirs): (PipeReader, PipeWriter),
        place: &'a Place,
        program: &str,
        ranks: usize,
        args: &[&str],
    ) -> Self {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{MARK}={}-{number}", std::process::id());
        let mut command = place.command(program);
        command.args(args).env(MARK, &mark[MARK.len() + 1..]);
        command.stdin(Stdio::null()).stdout(theirs).stderr(Stdio::piped());
        let launcher = command.spawn().unwrap();
        Self { place, launcher, stdout, told: Vec::new(), mark, ranks, sockets: BTreeSet::new() }
    }

    /// Waits until all ranks are there and rank 0 has used the processor for so many hundredths
    /// of a second; returns the ranks' processes in their order.
    pub fn ranks_after(&mut self, hundredths: u64) -> Vec<Pid> {
        let launcher = self.launcher.id();
        let ranks = poll("for the ranks to be at work", || {
            self.assert_running();
            let mut ranks: Vec<Process> =
                Process::all().filter(|p| p.parent == launcher && p.is_rank()).collect();
            ranks.sort_by_key(|process| (process.started, process.pid));
            let at_work = ranks.first().is_some_and(|leader| leader.used >= hundredths);
            (ranks.len() == self.ranks && at_work).then_some(ranks)
        });
        for rank in &ranks {
            self.sockets.extend(sockets::held_by(rank.pid));
        }
        ranks.iter().map(|rank| Pid::from_raw(rank.pid.cast_signed()).unwrap()).collect()
    }

    /// Tells what the launcher said if it has ended.
    #[track_caller]
    fn assert_running(&mut self) {
        if let Some(status) = self.launcher.try_wait().unwrap() {
            let mut said = String::new();
            self.launcher.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
            panic!("the launcher ended too early, {status}: {said}");
        }
    }

    /// Waits until the launcher itself has used the processor for so many hundredths of a second.
    pub fn launcher_after(&self, hundredths: u64) {
        poll("for the launcher to be at work", || {
            Process::read(self.launcher.id()).filter(|launcher| launcher.used >= hundredths)
        });
    }

    /// The launcher.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.launcher)
    }

    /// Waits until it has told this on standard error.
    pub fn tells(&mut self, words: &str) {
        let stderr = self.launcher.stderr.as_mut().unwrap();
        while !String::from_utf8_lossy(&self.told).contains(words) {
            let mut byte = [0];
            stderr.read_exact(&mut byte).unwrap();
            self.told.extend(byte);
        }
    }

    /// Sends a signal to the launcher until it has ended.
    pub fn signal_until_ended(mut self, signal: Signal) -> Finished {
        poll("for the launcher to end", || {
            self.signal(signal);
            self.launcher.try_wait().unwrap()
        });
        self.ended()
    }

    /// Sends a signal to the launcher.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.launcher), signal).unwrap();
    }

    /// Waits for the launcher's end, then until nothing of the run is left. What it prints fits into a pipe.
    pub fn ended(self) -> Finished {
        self.ended_after(String::new())
    }

    /// The same, reading what it prints as it comes.
    pub fn read_to_the_end(mut self) -> Finished {
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).unwrap();
        self.ended_after(stdout)
    }

    fn ended_after(mut self, read: String) -> Finished {
        let status = poll("for the launcher to end", || self.launcher.try_wait().unwrap());
        let text = |stream: &mut dyn Read| {
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        if let Some(signal) = status.signal() {
            assert_eq!(signal, Signal::KILL.as_raw(), "the launcher was killed");
        }
        // Ranks may outlive a killed launcher by a moment, and hold its standard error.
        self.leaves_nothing();
        let finished = Finished {
            code: status.code(),
            stdout: read + &text(&mut self.stdout),
            stderr: String::from_utf8_lossy(&self.told).into_owned()
                + &text(self.launcher.stderr.as_mut().unwrap()),
        };
        assert!(!finished.stderr.contains("panicked"), "{finished:?}");
        finished
    }

    fn leaves_nothing(&self) {
        poll("for the run's processes to be gone", || {
            Process::all().all(|process| !process.carries(&self.mark)).then_some(())
        });
        poll("for the run's sockets to be gone", || {
            sockets::listed().is_disjoint(&self.sockets).then_some(())
        });
        let shared = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        let shared = shared.map(|entry| entry.file_name().into_string().unwrap());
        let ours: Vec<String> = shared.filter(|name| name.contains("bandgap")).collect();
        assert_eq!(ours, Vec::<String>::new(), "in /dev/shm");
        assert_eq!(self.place.temporary(), Vec::<String>::new());
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        // A test that failed must not leave a run behind; one that has ended is no error.
        let _ = self.launcher.kill();
        let _ = self.launcher.wait();
    }
}

/// Waits until processes are stopped, or none of them is.
pub fn are_stopped(processes: &[Pid], stopped: bool) {
    poll("for processes to be stopped, or to go on", || {
        let all = processes.iter().all(|pid| {
            let process = Process::read(pid.as_raw_nonzero().get().cast_unsigned());
            process.is_some_and(|process| process.stopped == stopped)
        });
        all.then_some(())
    });
}

//! The launcher's side.

use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use bandgap_campaign::Table;
use bandgap_shm::Control;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::message::{Assignment, Channel, FromRank, ToRank};
use crate::start::Start;
use crate::{Exit, Failure, descriptors, told};

/// Time that ranks get to end by themselves after one of them has failed.
const GRACE: Duration = Duration::from_millis(800);

/// A rank that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct RankFailure {
    /// The rank.
    pub rank: usize,
    /// What happened, in words.
    pub what: String,
    /// The class of failure.
    pub exit: Exit,
}

/// How a launch ended. What was measured has been handed on in any case.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// All ranks are done.
    Done,
    /// A signal stopped the run.
    Interrupted,
    /// A rank failed first.
    Failed(RankFailure),
}

/// One set of rank processes.
#[derive(Debug)]
pub(crate) struct Launch {
    ranks: Vec<RankProcess>,
    control: Control,
    released: bool,
}

#[derive(Debug)]
struct RankProcess {
    child: Child,
    channel: Channel,
    open: bool,
    status: Option<ExitStatus>,
    failure: Option<(String, Exit)>,
    wrong: bool,
    done: bool,
    address: Option<String>,
}

impl Launch {
    /// Starts one rank for each assignment, and hands each the descriptors.
    ///
    /// # Errors
    /// The system refused processes, descriptors or memory; those already started are ended.
    pub fn start(
        how: &dyn Start,
        assignments: &[Assignment],
        inherited: &[OwnedFd],
    ) -> Result<Self, Failure> {
        let size = assignments.len();
        let refused = |what| Failure::new(Exit::Host, what);
        let control = Control::create(size).map_err(|error| {
            refused(format!("make shared memory for {size} ranks: {}", told(&error)))
        })?;
        let unstarted = |rank, error: std::io::Error| {
            refused(format!(
                "start rank {rank} of {size}: {error}; fewer ranks need less (see `ulimit -u`, \
                 `ulimit -n`)"
            ))
        };
        let mut launch = Self { ranks: Vec::with_capacity(size), control, released: false };
        for Assignment { rank, .. } in assignments {
            let process = RankProcess::start(how).map_err(|error| unstarted(rank, error))?;
            launch.ranks.push(process);
        }
        for (process, assignment) in launch.ranks.iter_mut().zip(assignments) {
            let page = [launch.control.fd()];
            let all: Vec<BorrowedFd<'_>> =
                page.into_iter().chain(inherited.iter().map(AsFd::as_fd)).collect();
            let handed = descriptors::send(process.channel.stream(), &all);
            let handed = handed
                .and_then(|()| process.channel.send(&ToRank::Begin(Box::new(assignment.clone()))));
            match handed {
                // A rank that died before it heard anything is found by the watching below.
                Err(error) if matches!(error.kind(), BrokenPipe | ConnectionReset) => {}
                handed => handed.map_err(|error| unstarted(&assignment.rank, error))?,
            }
        }
        Ok(launch)
    }

    /// Watches until all ranks have ended; batches go to `table`, progress to `progress`.
    /// `signal` becomes readable when the run shall stop.
    ///
    /// # Errors
    /// Waiting itself failed.
    pub fn watch(
        mut self,
        signal: &UnixStream,
        table: &mut Table,
        progress: &mut dyn FnMut(f64, &str),
    ) -> Result<Ended, Failure> {
        let mut ended: Option<Ended> = None;
        let mut give_up: Option<Instant> = None;
        while self.ranks.iter().any(|rank| rank.open) {
            let timeout = give_up.map(|at| at.saturating_duration_since(Instant::now()));
            let (ready, signalled) = self.wait(signal, timeout)?;
            if signalled {
                drain(signal);
                self.control.stop();
                ended.get_or_insert(Ended::Interrupted);
                give_up.get_or_insert_with(|| Instant::now() + GRACE);
            }
            for rank in ready {
                self.hear(rank, table, progress);
                if let Some(failure) = self.failure(rank) {
                    let status = self.ranks[rank].status.map_or(0, ExitStatusExt::into_raw);
                    self.control.poison(rank, status);
                    ended.get_or_insert(Ended::Failed(failure));
                    give_up.get_or_insert_with(|| Instant::now() + GRACE);
                }
            }
            self.hand_out_addresses();
            self.release_when_done();
            if give_up.is_some_and(|at| Instant::now() >= at) {
                break;
            }
        }
        self.end_all();
        Ok(self.root_cause(ended.unwrap_or(Ended::Done)))
    }

    /// A rank whose process ended without a word is the cause of its peers' failures, whichever
    /// was heard first; then one that received something wrong.
    fn root_cause(&self, ended: Ended) -> Ended {
        let silent = |rank: &RankProcess| {
            rank.failure.is_none() && !rank.done && rank.status.is_some_and(|s| !s.success())
        };
        let at = |is: &dyn Fn(&RankProcess) -> bool| self.ranks.iter().position(is);
        match (&ended, at(&silent).or_else(|| at(&|rank| rank.wrong))) {
            (Ended::Failed(_), Some(rank)) => self.failure(rank).map_or(ended, Ended::Failed),
            _ => ended,
        }
    }

    /// Waits for something to read; returns the ranks that have it, and whether a signal came.
    fn wait(
        &self,
        signal: &UnixStream,
        timeout: Option<Duration>,
    ) -> Result<(Vec<usize>, bool), Failure> {
        let open: Vec<usize> = (0..self.ranks.len()).filter(|&r| self.ranks[r].open).collect();
        let mut fds = vec![PollFd::new(signal, PollFlags::IN)];
        fds.extend(
            open.iter().map(|&r| PollFd::new(self.ranks[r].channel.stream(), PollFlags::IN)),
        );
        let timeout = timeout.and_then(|t| Timespec::try_from(t).ok());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                let error = std::io::Error::from(error);
                return Err(Failure::new(Exit::Host, format!("wait for the ranks: {error}")));
            }
        }
        let ready = open
            .iter()
            .zip(&fds[1..])
            .filter(|(_, fd)| !fd.revents().is_empty())
            .map(|(rank, _)| *rank)
            .collect();
        Ok((ready, !fds[0].revents().is_empty()))
    }

    /// Takes what one rank has sent.
    fn hear(&mut self, rank: usize, table: &mut Table, progress: &mut dyn FnMut(f64, &str)) {
        let process = &mut self.ranks[rank];
        let messages = match process.channel.receive_available() {
            Ok(Some(messages)) => messages,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return,
            closed => {
                if closed.is_err() {
                    // It cannot be understood any more; fails only when it has already ended.
                    let _ = process.child.kill();
                }
                process.open = false;
                process.status = process.child.wait().ok();
                return;
            }
        };
        for message in messages {
            match message {
                FromRank::Address(address) => process.address = Some(address),
                FromRank::Progress { kept, done, doing } => {
                    kept.into_iter().for_each(|kept| table.push(kept));
                    let batches = table.executed().count();
                    progress(done, &format!("{doing}, {batches} batches"));
                    // A rank that died meanwhile is noticed at the next reading.
                    let _ = process.channel.send(&ToRank::Noted);
                }
                FromRank::Done => process.done = true,
                FromRank::Failed { message, exit, wrong } => {
                    process.failure = Some((message, exit));
                    process.wrong = wrong;
                }
            }
        }
    }

    fn failure(&self, rank: usize) -> Option<RankFailure> {
        let process = &self.ranks[rank];
        if let Some((what, exit)) = &process.failure {
            return Some(RankFailure { rank, what: format!("it failed to {what}"), exit: *exit });
        }
        let status = process.status?;
        if process.done && status.success() {
            return None;
        }
        let pid = process.child.id();
        let how = match (status.signal(), status.code()) {
            (Some(signal), _) => format!("was killed by signal {signal}{}", signal_name(signal)),
            (None, Some(code)) => format!("ended early with exit status {code}"),
            (None, None) => "ended early".to_owned(),
        };
        Some(RankFailure { rank, what: format!("its process {pid} {how}"), exit: Exit::Rank })
    }

    /// Sends all addresses to all ranks once the last one is known.
    fn hand_out_addresses(&mut self) {
        if self.ranks.is_empty() || self.ranks.iter().any(|rank| rank.address.is_none()) {
            return;
        }
        let addresses: Vec<String> =
            self.ranks.iter_mut().filter_map(|rank| rank.address.take()).collect();
        self.tell_all(&ToRank::Addresses(addresses));
    }

    /// Lets ranks end once the last one is done.
    fn release_when_done(&mut self) {
        if self.released || self.ranks.iter().any(|rank| !rank.done) {
            return;
        }
        self.released = true;
        self.tell_all(&ToRank::Noted);
    }

    fn tell_all(&mut self, message: &ToRank) {
        for rank in &mut self.ranks {
            // A rank that died is noticed when its end of the socket is read.
            let _ = rank.channel.send(message);
        }
    }

    fn end_all(&mut self) {
        for rank in &mut self.ranks {
            if rank.status.is_none() {
                if let Ok(Some(status)) = rank.child.try_wait() {
                    rank.status = Some(status);
                    continue;
                }
                // Fails only when the process has already ended.
                let _ = rank.child.kill();
                rank.status = rank.child.wait().ok();
                // It did not end by itself, so its status tells nothing about the cause.
                rank.done = true;
            }
        }
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        self.control.stop();
        self.end_all();
    }
}

impl RankProcess {
    fn start(how: &dyn Start) -> std::io::Result<Self> {
        let (child, ours) = how.start()?;
        Ok(Self {
            child,
            channel: Channel::new(ours)?,
            open: true,
            status: None,
            failure: None,
            wrong: false,
            done: false,
            address: None,
        })
    }
}

/// Empties the signal's socket, so that one signal counts once.
fn drain(mut signal: &UnixStream) {
    let mut bytes = [0; 64];
    // Nothing more to read is the normal end.
    let _ = signal.read(&mut bytes);
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

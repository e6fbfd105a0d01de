//! The launcher's side.

use std::fmt;
use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bandgap_campaign::Table;
use bandgap_host::process::is_stopped;
use bandgap_shm::Control;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::cause::{Cause, Noted, named, stopped};
use crate::failure::unstarted;
use crate::message::{Assignment, FromRank, ToRank};
use crate::process::RankProcess;
use crate::signals::Signals;
use crate::start::Start;
use crate::vigil::Vigil;
use crate::{Exit, Failure, descriptors, told};

/// Time that ranks get to end by themselves after one of them has failed.
const GRACE: Duration = Duration::from_millis(800);

/// What ended a run early.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFailure {
    /// The rank that failed; `None` where no rank was the cause: they could not be started, say.
    pub rank: Option<usize>,
    /// What happened, in words.
    pub what: String,
    /// The class of failure.
    pub exit: Exit,
}

impl RunFailure {
    /// What keeps `whom` from going on.
    pub(crate) fn of(whom: &str, Failure { exit, what, hint }: Failure) -> Self {
        let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        Self { rank: None, what: format!("{whom}failed to {what}{hint}"), exit }
    }
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rank {
            Some(rank) => write!(f, "rank {rank}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// How a launch ended. What was measured has been handed on in any case.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// All ranks are done.
    Done,
    /// A signal stopped the run.
    Interrupted,
    /// Something failed.
    Failed(RunFailure),
}

/// One set of rank processes.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    ranks: Vec<RankProcess>,
    control: Arc<Control>,
    signals: &'a Signals,
    deadline: Duration,
    released: bool,
    /// Failures in the order of their coming.
    noted: Vec<(usize, Noted)>,
}

impl<'a> Launch<'a> {
    /// Starts one rank for each assignment, and hands each the descriptors.
    ///
    /// # Errors
    /// The system refused processes, descriptors or memory; those already started are ended.
    pub fn start(
        how: &dyn Start,
        assignments: &[Assignment],
        inherited: &[OwnedFd],
        signals: &'a Signals,
    ) -> Result<Self, Failure> {
        let size = assignments.len();
        let refused = |what| Failure::new(Exit::Host, what);
        let control = Control::create().map_err(|error| {
            refused(format!("make shared memory for {size} ranks: {}", told(&error)))
        })?;
        // Beside the ranks, the launcher and its thread for signals.
        let unstarted = |rank, error: std::io::Error| {
            unstarted(&format!("start rank {rank} of {size}"), size + 2, &error)
        };
        let deadline = assignments.first().map_or(Duration::ZERO, |of| of.deadline);
        let mut launch = Self {
            ranks: Vec::with_capacity(size),
            control: Arc::new(control),
            signals,
            deadline,
            released: false,
            noted: Vec::new(),
        };
        for Assignment { rank, .. } in assignments {
            let process = RankProcess::start(how, signals);
            launch.ranks.push(process.map_err(|error| unstarted(rank, error))?);
        }
        for (process, assignment) in launch.ranks.iter_mut().zip(assignments) {
            let page = [launch.control.fd()];
            let all: Vec<BorrowedFd<'_>> =
                page.into_iter().chain(inherited.iter().map(AsFd::as_fd)).collect();
            let begin = ToRank::Begin(Box::new(assignment.clone()));
            let handed = descriptors::send(process.channel.stream(), &all)
                .and_then(|()| process.channel.queue(&begin));
            match handed {
                // A rank that died before it heard anything is found by the watching below.
                Err(error) if matches!(error.kind(), BrokenPipe | ConnectionReset) => {}
                handed => handed.map_err(|error| unstarted(&assignment.rank, error))?,
            }
        }
        Ok(launch)
    }

    /// Watches until all ranks have ended; batches go to `table`, progress to `progress`.
    ///
    /// # Errors
    /// Waiting itself failed.
    pub fn watch(
        mut self,
        table: &mut Table,
        progress: &mut dyn FnMut(f64, &str),
    ) -> Result<Ended, Failure> {
        // What ranks fail with once they are told to end is no failure.
        let mut interrupted = false;
        let mut give_up: Option<Instant> = None;
        let mut vigil = Vigil::new(self.ranks.len(), self.deadline);
        while self.ranks.iter().any(|rank| rank.open) {
            let timeout = match give_up {
                Some(at) => at.saturating_duration_since(Instant::now()),
                None => vigil.left(),
            };
            let ready = self.wait(timeout, give_up.is_none())?;
            if self.signals.came() && self.noted.is_empty() && !interrupted {
                interrupted = true;
                self.control.stop();
                give_up.get_or_insert_with(|| Instant::now() + GRACE);
            }
            if !ready.is_empty() {
                vigil.heard();
            }
            for rank in ready {
                self.hear(rank, table, progress);
            }
            if give_up.is_none() && vigil.look(|rank| self.is_stopped(rank)) {
                let deadline = self.deadline;
                let nothing =
                    format!("nothing came for {deadline:?} (--deadline says how long to wait)");
                self.look_for_stopped(&nothing);
            }
            if let Some((rank, _)) = self.noted.first() {
                self.control.poison(*rank, self.ranks[*rank].status());
                give_up.get_or_insert_with(|| Instant::now() + GRACE);
            }
            self.hand_out_addresses();
            self.release_when_done();
            if give_up.is_some_and(|at| Instant::now() >= at) {
                break;
            }
        }
        self.end_all();
        Ok(match named(&self.noted) {
            _ if interrupted => Ended::Interrupted,
            Some((rank, Noted { what, exit, .. })) => {
                Ended::Failed(RunFailure { rank: Some(*rank), what: what.clone(), exit: *exit })
            }
            None => Ended::Done,
        })
    }

    /// Waits for something to read; returns the ranks that have it. Ranks that take more of what is to be sent get it.
    fn wait(&mut self, timeout: Duration, signals: bool) -> Result<Vec<usize>, Failure> {
        let open: Vec<usize> = (0..self.ranks.len()).filter(|&r| self.ranks[r].open).collect();
        let readable = self.signals.readable();
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(open.len() + 1);
        fds.extend(open.iter().map(|&rank| {
            let channel = &self.ranks[rank].channel;
            let unsent = if channel.is_sent() { PollFlags::empty() } else { PollFlags::OUT };
            PollFd::new(channel.stream(), PollFlags::IN | unsent)
        }));
        if signals {
            fds.push(PollFd::new(&readable, PollFlags::IN));
        }
        match poll(&mut fds, Timespec::try_from(timeout).ok().as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                let error = std::io::Error::from(error);
                return Err(Failure::new(Exit::Host, format!("wait for the ranks: {error}")));
            }
        }
        let found: Vec<(usize, PollFlags)> =
            open.iter().zip(&fds).map(|(rank, fd)| (*rank, fd.revents())).collect();
        for (rank, _) in found.iter().filter(|(_, found)| found.contains(PollFlags::OUT)) {
            // A rank that died is noticed when its end of the socket is read.
            let _ = self.ranks[*rank].channel.send_available();
        }
        let ready =
            found.into_iter().filter(|(_, found)| !found.difference(PollFlags::OUT).is_empty());
        Ok(ready.map(|(rank, _)| rank).collect())
    }

    /// Takes what one rank has sent.
    fn hear(&mut self, rank: usize, table: &mut Table, progress: &mut dyn FnMut(f64, &str)) {
        let (messages, ended) = self.ranks[rank].hear(self.signals);
        for message in messages {
            let process = &mut self.ranks[rank];
            match message {
                FromRank::Address(address) => process.address = Some(address),
                FromRank::Progress { kept, done, doing } => {
                    kept.into_iter().for_each(|kept| table.push(kept));
                    let batches = table.executed().count();
                    progress(done, &format!("{doing}, {batches} batches"));
                    // A rank that died meanwhile is noticed at the next reading.
                    let _ = process.channel.queue(&ToRank::Noted);
                }
                FromRank::Done => process.done = true,
                FromRank::Failed { message, exit, cause } => {
                    let noted = process.failed(&message, exit, cause);
                    if cause >= Cause::Waited {
                        self.look_for_stopped(&format!("rank {rank}: {}", noted.what));
                    }
                    self.noted.push((rank, noted));
                }
            }
        }
        self.noted.extend(ended.map(|noted| (rank, noted)));
    }

    /// Whether a rank that has not ended is stopped.
    fn is_stopped(&self, rank: usize) -> bool {
        let process = &self.ranks[rank];
        process.open && is_stopped(process.pid())
    }

    /// Notes ranks that are stopped, if there are any, as the cause of what followed.
    fn look_for_stopped(&mut self, followed: &str) {
        let all = (0..self.ranks.len()).filter(|&rank| self.is_stopped(rank));
        let all: Vec<(usize, u32)> = all.map(|rank| (rank, self.ranks[rank].pid())).collect();
        self.noted.extend(stopped(&all, followed));
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
            let _ = rank.channel.queue(message);
        }
    }

    fn end_all(&mut self) {
        for (rank, process) in self.ranks.iter_mut().enumerate() {
            let ended = process.end(self.signals);
            self.noted.extend(ended.map(|noted| (rank, noted)));
        }
    }
}

impl Drop for Launch<'_> {
    fn drop(&mut self) {
        self.control.stop();
        self.end_all();
    }
}

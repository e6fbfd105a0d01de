//! The runner on rank processes: the leader's side, and the part that every rank plays.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bandgap_comm::{Bulk, CommError, Delay, Endpoint, Role, Watch, Word};
use bandgap_host::{CycleClock, WorkRate, pace};
use bandgap_kernels::{COMMAND, DONE, Executor, Job, MessageState, RESULT, RankState, Samples};
use bandgap_shm::{Control, probe, report};
use bandgap_units::Ns;

use crate::message::{Channel, FromRank, ToRank};
use bandgap_campaign::data::{Measured, Probe};
use bandgap_campaign::runner::{Executed, Runner, Stop};

/// First word of the command that ends a follower.
pub const QUIT: Word = Word::MAX;
/// A probe is this many windows; its value is their median.
const PROBE_WINDOWS: u32 = 3;
/// Round trips of a window: short beside a batch, long beside the clock's cost.
const PROBE_ROUNDS: u32 = 24;
/// Measured batches are handed on at least this often.
const FLUSH: Duration = Duration::from_millis(200);
/// Stands for a probe that gave no value, where results travel as words.
const NO_PROBE: Word = Word::MAX;

/// One rank's means to carry out a job: an executor, and the line for the placement probe.
pub struct Station<E, W, S = RankState> {
    executor: Executor<E, CycleClock, W, S>,
    control: Arc<Control>,
    epoch: u64,
    execute: Execute<E, W, S>,
}

/// How an executor carries out a job: one of words or transfers, or any.
type Execute<E, W, S> = fn(&mut Executor<E, CycleClock, W, S>, &Job) -> Result<Samples, CommError>;

/// What a rank measured in one job, in ticks.
struct Carried {
    samples: Samples,
    probe: Option<[ProbeTicks; 2]>,
}

/// A [`Probe`] in ticks: of a window of the ping-pong, and of the pace.
#[derive(Clone, Copy, Debug)]
pub struct ProbeTicks {
    line: Word,
    pace: Word,
}

/// The state of a rank's handlers, whatever else it holds.
pub trait State: AsRef<RankState> + AsMut<RankState> {}

impl<S: AsRef<RankState> + AsMut<RankState>> State for S {}

impl<E: Bulk, W: Watch> Station<E, W, MessageState> {
    /// The same station for jobs that may be of message passing.
    pub fn passing(self) -> Self {
        Self { execute: Executor::execute_messages, ..self }
    }
}

impl<E: Bulk, W: Watch, S: State> Station<E, W, S> {
    /// A station over `executor`.
    pub fn new(executor: Executor<E, CycleClock, W, S>, control: Arc<Control>) -> Self {
        Self { executor, control, epoch: 0, execute: Executor::execute }
    }
}

impl<E: Endpoint, W: Watch, S: State> Station<E, W, S> {
    /// This rank's executor.
    pub fn executor(&mut self) -> &mut Executor<E, CycleClock, W, S> {
        &mut self.executor
    }

    /// Runs this rank's part of `job`, between two probes if the job asks for them.
    fn carry_out(&mut self, job: &Job) -> Result<Carried, CommError> {
        let before = self.probe(job)?;
        let samples = (self.execute)(&mut self.executor, job)?;
        let after = self.probe(job)?;
        Ok(Carried { samples, probe: before.zip(after).map(|(b, a)| [b, a]) })
    }

    /// A probe between the timed rank and its peer.
    fn probe(&mut self, job: &Job) -> Result<Option<ProbeTicks>, CommError> {
        let active = self.executor.active();
        let (rank, (timed, peer)) = (active.rank(), job.timed(active.size()));
        let role = match rank {
            r if job.probed && r == timed => Role::Initiator,
            r if job.probed && r == peer => Role::Responder,
            _ => {
                self.epoch += 1;
                return Ok(None);
            }
        };
        self.probe_as(role)
    }

    /// One probe, this rank in `role`; every rank counts the probes of all. Only the initiator
    /// gets its result.
    ///
    /// # Errors
    /// The other side is gone, or the run was stopped.
    pub fn probe_as(&mut self, role: Role) -> Result<Option<ProbeTicks>, CommError> {
        self.epoch += 1;
        // Peers may wait for completions that this rank owes; while it probes it does not poll.
        self.executor.active().settle()?;
        let begun = Instant::now();
        let control = &self.control;
        let mut give_up = || {
            std::thread::yield_now();
            control.stopped()
                || control.poisoned().is_some()
                || begun.elapsed() > Duration::from_secs(5)
        };
        let timer = self.executor.timer();
        let epoch = self.epoch;
        let windows = probe(control, role, epoch, PROBE_WINDOWS, PROBE_ROUNDS, timer, &mut give_up);
        // Both at once, as they run in a batch.
        let own = pace(timer).min(u64::from(u32::MAX)) as u32;
        let peers = windows.as_ref().and_then(|_| report(control, role, epoch, own, give_up));
        let (Some(mut windows), Some(peers)) = (windows, peers) else {
            self.executor.active().watch_mut().check(begun.elapsed(), "the placement probe")?;
            return Ok(None);
        };
        windows.sort_unstable();
        let line = windows.get(windows.len() / 2).copied();
        Ok(line.map(|line| ProbeTicks { line, pace: own.max(peers).into() }))
    }
}

/// A probe in nanoseconds: one way of its window, and the pace.
pub fn probe_ns(clock: &CycleClock, ticks: ProbeTicks) -> Probe {
    let ns = |ticks| clock.to_ns(ticks).0 - clock.cost().0;
    Probe { cache_line: ns(ticks.line) / f64::from(2 * PROBE_ROUNDS), pace: ns(ticks.pace) }
}

/// Hands measured batches to the launcher and waits until it has noted them, so that it is asleep
/// again when the next timed section begins.
///
/// # Errors
/// The launcher is gone, or does not want to go on.
pub fn flush(
    channel: &mut Channel,
    measured: Vec<Measured>,
    done: f64,
    doing: &str,
) -> Result<(), Stop> {
    channel.send(&FromRank::Progress { measured, done, doing: doing.to_owned() })?;
    match channel.receive()? {
        Some(ToRank::Noted) => Ok(()),
        _ => Err(Stop::Interrupted),
    }
}

/// Carries out what the leader commands until it says quit.
///
/// # Errors
/// Communication failed, or the leader sent what is no command.
pub fn follow<E: Endpoint, W: Watch, S: State>(
    station: &mut Station<E, W, S>,
) -> Result<(), CommError> {
    loop {
        let active = station.executor.active();
        active.serve_until(|state| !state.as_ref().commands.is_empty())?;
        let Some(words) = active.state_mut().as_mut().commands.pop_front() else { continue };
        if words[0] == QUIT {
            return active.settle();
        }
        let (rank, size) = (active.rank(), active.size());
        let job = Job::decode(words, size).map_err(|_| CommError::Garbage {
            peer: 0,
            what: format!("the command {words:x?} is no job for {size} ranks"),
        })?;
        let carried = station.carry_out(&job)?;
        if job.timed(size).0 == rank {
            send_results(station, &carried)?;
        }
        let active = station.executor.active();
        active.request(0, DONE, [])?;
        active.await_replies()?;
    }
}

/// Sends a follower's measurement to the leader.
fn send_results<E: Endpoint, W: Watch, S: State>(
    station: &mut Station<E, W, S>,
    carried: &Carried,
) -> Result<(), CommError> {
    let none = ProbeTicks { line: NO_PROBE, pace: NO_PROBE };
    let [before, after] = carried.probe.unwrap_or([none; 2]);
    let active = station.executor.active();
    active.request(0, RESULT, [before.line, before.pace, after.line, after.pace])?;
    let samples = &carried.samples;
    for word in samples.issue.iter().chain(&samples.drained) {
        active.request(0, RESULT, [*word])?;
    }
    active.await_replies()
}

/// The leader: rank 0, which decides and commands.
pub struct LiveRunner<'a, E, W, S = RankState> {
    station: Station<E, W, S>,
    channel: &'a mut Channel,
    clock: CycleClock,
    work: WorkRate,
    launch: u32,
    probes: bool,
    begun: Instant,
    jobs: u64,
    unsent: Vec<Measured>,
    last_sent: Instant,
}

impl<'a, E: Endpoint, W: Watch, S: State> LiveRunner<'a, E, W, S> {
    /// The leader over `station`; `probes` says whether ranks have processors of their own, so
    /// that a probe by spinning makes sense.
    pub fn new(
        station: Station<E, W, S>,
        channel: &'a mut Channel,
        clock: CycleClock,
        work: WorkRate,
        launch: u32,
        probes: bool,
    ) -> Self {
        let now = Instant::now();
        Self {
            station,
            channel,
            clock,
            work,
            launch,
            probes,
            begun: now,
            jobs: 0,
            unsent: Vec::new(),
            last_sent: now,
        }
    }

    /// Ends the followers and hands on what is left. The station is to be kept until all ranks are
    /// done.
    ///
    /// # Errors
    /// Communication failed.
    pub fn finish(mut self, doing: &str) -> Result<Station<E, W, S>, Stop> {
        self.command([QUIT, 0, 0, 0])?;
        self.station.executor.active().settle()?;
        self.flush(1.0, doing)?;
        Ok(self.station)
    }

    fn command(&mut self, words: [Word; 4]) -> Result<(), CommError> {
        let active = self.station.executor.active();
        for follower in 1..active.size() {
            active.request(follower, COMMAND, words)?;
        }
        active.await_replies()
    }

    fn flush(&mut self, done: f64, doing: &str) -> Result<(), Stop> {
        flush(self.channel, std::mem::take(&mut self.unsent), done, doing)?;
        self.last_sent = Instant::now();
        Ok(())
    }

    fn ns(&self, ticks: &[Word]) -> Vec<f64> {
        let cost = self.clock.cost().0;
        ticks.iter().map(|t| (self.clock.to_ns(*t).0 - cost).max(0.0)).collect()
    }

    /// The samples of a job that a follower timed.
    fn collect(&mut self, job: &Job) -> Result<Carried, CommError> {
        let count = 4 + 2 * job.samples as usize;
        let active = self.station.executor.active();
        active.serve_until(|state| state.as_ref().results.len() >= count)?;
        let results = std::mem::take(&mut active.state_mut().as_mut().results);
        let ticks = |at: usize| ProbeTicks { line: results[at], pace: results[at + 1] };
        let probe = (results[0] != NO_PROBE).then(|| [ticks(0), ticks(2)]);
        let (issue, drained) = results[4..count].split_at(job.samples as usize);
        let samples = Samples { issue: issue.to_vec(), drained: drained.to_vec() };
        Ok(Carried { samples, probe })
    }
}

impl<E: Endpoint, W: Watch, S: State> Runner for LiveRunner<'_, E, W, S> {
    fn size(&self) -> usize {
        self.station.executor.endpoint().size()
    }

    fn capacity(&self) -> usize {
        self.station.executor.endpoint().capabilities().capacity
    }

    fn virtual_time(&self) -> bool {
        false
    }

    fn launch(&self) -> u32 {
        self.launch
    }

    fn run(&mut self, job: &Job) -> Result<Executed, Stop> {
        let job = Job { probed: job.probed && self.probes, ..*job };
        self.command(job.encode())?;
        let mut carried = self.station.carry_out(&job)?;
        if job.timed(self.size()).0 != 0 {
            carried = self.collect(&job)?;
        }
        // Jobs do not overlap.
        self.jobs += 1;
        let active = self.station.executor.active();
        let expected = self.jobs * (active.size() as u64 - 1);
        active.serve_until(|state| state.as_ref().done >= expected)?;
        let probe = carried.probe.map(|ticks| ticks.map(|t| probe_ns(&self.clock, t)));
        Ok(Executed {
            issue: self.ns(&carried.samples.issue),
            drained: self.ns(&carried.samples.drained),
            probe,
        })
    }

    fn delay(&self, ns: f64) -> Delay {
        self.work.delay(Ns(ns))
    }

    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<f64> {
        let ticks = self.station.executor.time_delay(delay, messages, samples);
        self.ns(&ticks).iter().map(|ns| ns / f64::from(messages)).collect()
    }

    fn keep(&mut self, measured: Measured) -> Result<(), Stop> {
        self.unsent.push(measured);
        Ok(())
    }

    fn progress(&mut self, done: f64, doing: &str) -> Result<(), Stop> {
        if self.last_sent.elapsed() >= FLUSH {
            self.flush(done, doing)?;
            self.station.executor.active().watch_mut().check(Duration::ZERO, "the launcher")?;
        }
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

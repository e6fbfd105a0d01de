//! The leader, rank 0, sends orders to its followers, which report the results.

use std::time::{Duration, Instant};

use bandgap_campaign::beside::Beside;
use bandgap_campaign::data::{Kept, Probe};
use bandgap_campaign::runner::{AtRank, Executed, Runner, Stop};
use bandgap_comm::passing::Way;
use bandgap_comm::{CommError, Delay, Division, Rank, Result, Timed};
use bandgap_kernels::{Failed, Order, Shape, fact};
use bandgap_units::Ns;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::message::{Assignment, Channel, FromRank, ToRank};
use crate::station::{Carried, PROBE_ROUNDS, ProbeTicks, Station};

/// Least time between two reports of batches to the launcher.
const FLUSH: Duration = Duration::from_millis(200);

/// A letter from the leader to a follower, as JSON. The follower answers with [`Carried`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Command {
    /// Carry out an order.
    Run(Order),
    /// Take part in the placement probe of an order, but do not carry it out.
    Look(Order),
    /// End.
    Quit,
}

/// Carries out the leader's commands until [`Command::Quit`].
///
/// # Errors
/// Communication failed, or the leader sent something other than a command.
pub fn follow(station: &mut Station) -> Result<(), Failed> {
    loop {
        let carried = match receive(station, 0, "command")? {
            Command::Run(order) => station.carry_out(&order)?,
            Command::Look(order) => station.look(&order)?,
            Command::Quit => return Ok(station.first()?.settle()?),
        };
        station.first()?.post(0, &encode(&carried))?;
    }
}

/// Waits for a letter from `peer` and parses it; `what` names its kind in errors.
fn receive<T: DeserializeOwned>(station: &mut Station, peer: Rank, what: &str) -> Result<T> {
    let letter = station.first()?.receive(peer)?;
    serde_json::from_slice(&letter).map_err(|error| {
        let what = format!("a letter that is not a {what}: {error}");
        CommError::Garbage { peer, what }
    })
}

/// A letter as JSON, which can hold all plain data.
fn encode(letter: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(letter).unwrap_or_default()
}

/// The leader, rank 0.
pub struct LiveRunner<'a> {
    station: Station,
    channel: &'a mut Channel,
    assignment: &'a Assignment,
    begun: Instant,
    ends: [Duration; 2],
    unsent: Vec<Kept>,
    last_sent: Instant,
    /// The share done at the last report.
    done: f64,
}

impl<'a> LiveRunner<'a> {
    /// A leader that received its assignment at `begun`.
    pub fn new(
        station: Station,
        channel: &'a mut Channel,
        assignment: &'a Assignment,
        begun: Instant,
    ) -> Self {
        let (ends, unsent, last_sent, done) = (assignment.time, Vec::new(), Instant::now(), 0.0);
        Self { station, channel, assignment, begun, ends, unsent, last_sent, done }
    }

    /// Ends the followers and reports the remaining batches. The caller must keep the station until all
    /// ranks are done.
    ///
    /// # Errors
    /// Communication failed.
    pub fn finish(mut self) -> Result<Station, Stop> {
        if let Err(stop) = self.quit() {
            self.give_up();
            return Err(stop.into());
        }
        self.flush(1.0, "done")?;
        Ok(self.station)
    }

    fn quit(&mut self) -> Result<()> {
        self.command(&Command::Quit)?;
        self.station.first()?.settle()
    }

    fn command(&mut self, command: &Command) -> Result<()> {
        let letter = encode(command);
        for follower in 1..self.station.size {
            self.station.first()?.post(follower, &letter)?;
        }
        Ok(())
    }

    /// The reports of all ranks, by rank, of which `own` is this rank's.
    fn reports(&mut self, own: Carried) -> Result<Vec<Carried>, Failed> {
        let ns_per_tick = self.station.clock.report().ns_per_tick;
        let mut all = vec![own];
        for follower in 1..self.station.size {
            let carried: Carried = receive(&mut self.station, follower, "report")?;
            all.push(carried.in_ticks_of(ns_per_tick));
        }
        Ok(all)
    }

    /// Reports batches to the launcher and waits until it has noted them, so that it sleeps again when the
    /// next timed section begins.
    fn flush(&mut self, done: f64, doing: &str) -> Result<(), Stop> {
        let kept = std::mem::take(&mut self.unsent);
        self.done = done;
        self.channel.send(&FromRank::Progress { kept, done, doing: doing.to_owned() })?;
        match self.channel.receive()? {
            Some(ToRank::Noted) => {}
            _ => return Err(Stop::Interrupted),
        }
        self.last_sent = Instant::now();
        Ok(())
    }

    /// Reports the remaining batches when the run cannot continue, without waiting for the launcher's answer.
    pub fn give_up(self) {
        if !self.unsent.is_empty() {
            let (kept, doing) = (self.unsent, "the end".to_owned());
            // Without a launcher nobody can keep them.
            let _ = self.channel.send(&FromRank::Progress { kept, done: self.done, doing });
        }
    }

    /// Timed sections in nanoseconds, without the clock's cost.
    fn ns(&self, ticks: &[u64]) -> Vec<f64> {
        let clock = &self.station.clock;
        let cost = clock.report().cost.0;
        ticks.iter().map(|t| (clock.to_ns(*t).0 - cost).max(0.0)).collect()
    }

    /// A placement probe in nanoseconds: one way of the ping-pong, and the pace.
    fn probe(&self, ticks: ProbeTicks) -> Probe {
        let clock = &self.station.clock;
        let ns = |ticks| clock.to_ns(ticks).0 - clock.report().cost.0;
        Probe { cache_line: ns(ticks.line) / f64::from(2 * PROBE_ROUNDS), pace: ns(ticks.pace) }
    }

    fn at_rank(&self, timed: &Timed) -> AtRank {
        let ns = |ticks: u64| self.station.clock.to_ns(ticks).0;
        let sum = ns(timed.ticks.unsigned_abs()) * if timed.ticks < 0 { -1.0 } else { 1.0 };
        AtRank { ns: sum, count: timed.count, begun: timed.begun, passed: timed.passed }
    }

    fn samples(&self, order: &Order, all: &mut [Carried]) -> Result<Executed, Stop> {
        let unavailable = all.first_mut().and_then(|of| of.outcome.unavailable.take());
        if unavailable.is_some() {
            return Ok(Executed { unavailable, ..Executed::default() });
        }
        let mut executed = Executed::default();
        let stamps = |carried: &mut Carried| std::mem::take(&mut carried.outcome.stamps);
        let stamps: Vec<_> = all.iter_mut().map(stamps).collect();
        let timed = all.iter().filter_map(|carried| carried.outcome.timed.as_ref());
        executed.at_border = timed.map(|timed| self.at_rank(timed)).collect();
        // Work of one rank alone gives no sample of the kernel.
        if stamps.iter().all(Vec::is_empty) && !executed.at_border.is_empty() {
            return Ok(executed);
        }
        let samples = (fact(&order.kernel)?.samples)(order, self.station.size, &stamps)?;
        let ns = |ticks: &[u64]| match order.shape {
            Shape::Batch => self.ns(ticks),
            Shape::Osu => ticks.iter().map(|ticks| self.station.clock.to_ns(*ticks).0).collect(),
        };
        let column = |name| (name, ns(samples.column(name)));
        executed.samples = samples.names().map(column).collect();
        Ok(executed)
    }
}

impl Runner for LiveRunner<'_> {
    fn size(&self) -> usize {
        self.station.size
    }

    fn capacity(&self) -> usize {
        self.station.capacity()
    }

    fn is_far(&self) -> bool {
        self.assignment.interface.is_some()
    }

    fn virtual_time(&self) -> bool {
        false
    }

    fn division(&self) -> Option<&'static Division> {
        self.station.machines.first()?.0.division
    }

    fn launch(&self) -> u32 {
        self.assignment.launch
    }

    fn beside(&self) -> &[Beside] {
        &self.assignment.task.beside
    }

    fn run(&mut self, order: &Order) -> Result<Executed, Stop> {
        let order = Order { probed: order.probed && self.assignment.probes, ..order.clone() };
        self.command(&Command::Run(order.clone()))?;
        let own = self.station.carry_out(&order)?;
        let mut all = self.reports(own)?;
        if let Some(wrong) = all.iter().find_map(|carried| carried.outcome.wrong.clone()) {
            return Err(wrong.into());
        }
        let probe = all.iter().find_map(|carried| carried.probe);
        let probe = probe.map(|ticks| ticks.map(|ticks| self.probe(ticks)));
        let checked = all.iter().map(|carried| carried.outcome.checked);
        let checked = checked.reduce(bandgap_kernels::Checked::and).unwrap_or_default();
        // If one rank could not send the ordered way, all sent in pieces.
        let mut ways = all.iter().take(order.ranks).map(|carried| carried.outcome.way);
        let way =
            ways.next().map(|first| if ways.all(|way| way == first) { first } else { Way::Pieces });
        let refused = all.iter().find_map(|carried| carried.outcome.refused.clone());
        Ok(Executed { probe, checked, way, refused, ..self.samples(&order, &mut all)? })
    }

    fn look(&mut self, order: &Order) -> Result<Option<Probe>, Stop> {
        if !self.assignment.probes {
            return Ok(None);
        }
        self.command(&Command::Look(order.clone()))?;
        let own = self.station.look(order)?;
        let all = self.reports(own)?;
        let probe = all.iter().find_map(|carried| carried.probe);
        Ok(probe.map(|[ticks, _]| self.probe(ticks)))
    }

    fn delay(&self, ns: f64) -> Delay {
        self.assignment.work.delay(Ns(ns))
    }

    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<f64> {
        let Ok(machine) = self.station.first() else { return Vec::new() };
        let ticks = machine.time_delay(delay, messages, samples);
        self.ns(&ticks).iter().map(|ns| ns / f64::from(messages)).collect()
    }

    fn keep(&mut self, kept: Kept) -> Result<(), Stop> {
        self.unsent.push(kept);
        Ok(())
    }

    fn progress(&mut self, done: f64, doing: &str) -> Result<(), Stop> {
        if self.last_sent.elapsed() >= FLUSH {
            self.flush(done, doing)?;
            self.station.first()?.look(Duration::ZERO, "the launcher")?;
        }
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn ends(&self) -> [Duration; 2] {
        self.ends
    }

    fn limit(&mut self, ends: [Duration; 2]) {
        self.ends = ends;
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use bandgap_campaign::Key;
    use bandgap_campaign::data::Batch;
    use bandgap_shm::Control;

    use super::*;
    use crate::station::tests::tended;

    #[test]
    fn what_was_not_handed_on_yet_is_when_the_run_cannot_go_on() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut channel, mut launcher) = (Channel::new(ours), Channel::new(theirs));
        let control = Arc::new(Control::create().unwrap());
        let now = Instant::now();
        let begin = serde_json::from_str(include_str!("../corpus/to-rank.json")).unwrap();
        let ToRank::Begin(assignment) = begin else { panic!("{begin:?}") };
        let mut runner = LiveRunner {
            station: tended(&control, 0, &Arc::default()),
            channel: &mut channel,
            assignment: &assignment,
            begun: now,
            ends: [Duration::MAX; 2],
            unsent: Vec::new(),
            last_sent: now,
            done: 0.25,
        };
        let batch = Batch { samples: vec![7.0], ..Batch::default() };
        runner.keep(Kept::Batch { key: Key::new("rtt"), batch }).unwrap();
        runner.give_up();
        let heard: Option<FromRank> = launcher.receive().unwrap();
        let Some(FromRank::Progress { kept, done, .. }) = heard else { panic!("{heard:?}") };
        assert!(matches!(&kept[..], [Kept::Batch { batch, .. }] if batch.samples == [7.0]));
        assert_eq!(done, 0.25);
    }
}

//! A rank's part of an order: runs it on the machine that the order names, between two placement probes.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bandgap_comm::{CommError, FloorRole, Measuring, Rank, Result, Window};
use bandgap_host::{CycleClock, pace};
use bandgap_kernels::{Failed, Order, Outcome, Over, Refused, carry_out_bare, fact};
use bandgap_shm::{Control, PROBE_WINDOWS, probe, report};
use bandgap_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::Transport;
use crate::floors::Bares;
use crate::machine::Machine;
use crate::stamped::StampedEnd;

/// Round trips of a window: short compared with a batch, long compared with the clock's cost.
pub const PROBE_ROUNDS: u32 = 24;

/// The result of an order on a rank. Followers send it to the leader.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Carried {
    /// The kernel's outcome.
    pub outcome: Outcome,
    /// The probes before and after, on the timing rank.
    pub probe: Option<[ProbeTicks; 2]>,
    /// Nanoseconds a tick of the rank's clock, which may differ from the leader's.
    #[serde(default)]
    pub ns_per_tick: f64,
}

impl Carried {
    /// Converts to ticks of a clock with `ns_per_tick`. Stamps keep only their differences: clocks of two ranks are never
    /// compared.
    pub fn in_ticks_of(mut self, ns_per_tick: f64) -> Self {
        let factor = self.ns_per_tick / ns_per_tick;
        if factor == 1.0 || !(factor.is_finite() && factor > 0.0) {
            return self;
        }
        let scaled = |ticks: u64| (ticks as f64 * factor).round() as u64;
        if let Some(&first) = self.outcome.stamps.first() {
            for stamp in &mut self.outcome.stamps {
                *stamp = scaled(stamp.saturating_sub(first));
            }
        }
        if let Some(timed) = &mut self.outcome.timed {
            timed.ticks = (timed.ticks as f64 * factor).round() as i64;
        }
        self
    }
}

/// A placement probe in ticks: a window of the ping-pong, and the pace.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ProbeTicks {
    /// The cache-line ping-pong.
    pub line: u64,
    /// A fixed amount of arithmetic, on the slower of the two ranks.
    pub pace: u64,
}

/// All that a rank carries out orders with.
pub(crate) struct Station {
    /// This rank.
    pub rank: Rank,
    /// Number of ranks.
    pub size: usize,
    /// The machine of each transport. The first carries orders.
    pub machines: Vec<(Transport, Box<dyn Machine>)>,
    /// The stamped end of the first transport, if any.
    pub stamped: Option<StampedEnd>,
    /// The ends of bare mechanisms.
    pub bares: Bares,
    /// The page where probes meet.
    pub control: Arc<Control>,
    /// The clock for probes and floors.
    pub clock: CycleClock,
    /// Longest wait for the peer of a probe.
    pub deadline: Duration,
    /// Number of probes so far.
    pub epoch: u64,
    /// Bytes of the longest messages that came through.
    pub passed: u64,
}

impl Station {
    /// The machine that carries orders.
    ///
    /// # Errors
    /// There is none; every launcher assigns one.
    pub fn first(&mut self) -> Result<&mut (dyn Machine + 'static)> {
        match self.machines.first_mut() {
            Some((_, machine)) => Ok(&mut **machine),
            None => Err(CommError::Stopped),
        }
    }

    /// Most requests that flow control allows outstanding toward a peer.
    pub fn capacity(&self) -> usize {
        self.machines.first().map_or(0, |(_, machine)| machine.capacity())
    }

    /// Carries out this rank's part of `order`, between two probes if the order asks for them.
    ///
    /// # Errors
    /// It cannot be carried out, what arrived was wrong, or communication failed.
    pub fn carry_out(&mut self, order: &Order) -> Result<Carried, Failed> {
        let ends = if order.probed { Some(self.ends(order)?) } else { None };
        let before = self.probe(ends)?;
        // Messages of kernels without this parameter are short.
        let missing = order.parameters["bytes"].as_u64().unwrap_or(0);
        let is_far = !self.bares.interface.is_loopback();
        let outcome = self.execute(order).map_err(|error| match error {
            Failed::Comm(CommError::Deadline { waited, .. }) if is_far && missing > self.passed => {
                let [missing, passed] = [missing, self.passed].map(Bytes);
                let what = format!("messages of {missing} did not come through within {waited:.1?}, and up to {passed} did: is the MTU alike on the whole way?");
                CommError::Connect(format!("communicate: {what}").into()).into()
            }
            Failed::Comm(CommError::Deadline { waited, waiting_for }) => {
                let what = format!("{waiting_for} of {}", order.kernel);
                let what = format!("nothing arrived for {waited:.1?} while waiting for {what} (--deadline says how long to wait)");
                CommError::Connect(format!("communicate: {what}").into()).into()
            }
            error => error,
        })?;
        self.passed = self.passed.max(missing);
        let ns_per_tick = self.clock.report().ns_per_tick;
        let after = self.probe(ends)?;
        let probe = before.zip(after).map(|(before, after)| [before, after]);
        Ok(Carried { outcome, probe, ns_per_tick })
    }

    /// The timing rank and its peer.
    fn ends(&self, order: &Order) -> Result<[Rank; 2], Refused> {
        (fact(&order.kernel)?.timed)(order, self.size)
    }

    fn execute(&mut self, order: &Order) -> Result<Outcome, Failed> {
        if let (Some(at), Some(stamped)) = (order.at_border, &mut self.stamped)
            && at.point > 0
        {
            return stamped(order);
        }
        if fact(&order.kernel)?.over == Over::Bare {
            return self.measure(order);
        }
        let Some(on) = &order.on else { return self.first()?.run(order) };
        let machine = self.machines.iter_mut().find(|(transport, _)| transport.name == on);
        let not_connected = || Refused::because(format!("{on} is not connected")).of(&order.kernel);
        let (_, machine) = machine.ok_or_else(not_connected)?;
        let outcome = machine.run(order)?;
        // The next batch may use another transport, and nobody polls this one meanwhile.
        machine.settle()?;
        Ok(outcome)
    }

    /// Measures a batch of a floor. Only the first two ranks take part.
    fn measure(&mut self, order: &Order) -> Result<Outcome, Failed> {
        let role = match self.rank {
            0 => FloorRole::Initiator,
            1 => FloorRole::Responder,
            _ => return Ok(Outcome::default()),
        };
        let Some((transport, machine)) = self.machines.first_mut() else {
            return Err(CommError::Stopped.into());
        };
        let on = order.on.as_deref().unwrap_or(transport.name);
        let (timer, patience) = (&self.clock, self.deadline);
        let done = carry_out_bare(order, self.size, |bare, window| {
            let end = self.bares.end(on, (self.rank, &mut **machine), patience)?;
            let give_up = tending(&self.control, &mut **machine);
            let turn = bare.turn;
            let with = Measuring { role, window, timer, turn, patience, give_up: &give_up };
            end(&bare.floor, bare.bytes, &with)
        });
        // A dead or lost rank is the cause, rather than the floor that waited for it in vain.
        self.first()?.look(Duration::ZERO, "a floor")?;
        if done.is_err() {
            self.first()?.tend()?;
        }
        done
    }

    /// Probes the placement of the ranks of `order` without a batch.
    ///
    /// # Errors
    /// As [`Station::carry_out`].
    pub fn look(&mut self, order: &Order) -> Result<Carried, Failed> {
        let ends = self.ends(order)?;
        let probe = self.probe(Some(ends))?.map(|probe| [probe; 2]);
        Ok(Carried { probe, ..Carried::default() })
    }

    /// Probes the placement of the two `ends`, if any. All ranks count the probe; only the first end gets the
    /// result.
    fn probe(&mut self, ends: Option<[Rank; 2]>) -> Result<Option<ProbeTicks>> {
        let Some([timed, peer]) = ends else { return Ok(None) };
        self.epoch += 1;
        let role = match self.rank {
            rank if rank == timed => FloorRole::Initiator,
            rank if rank == peer => FloorRole::Responder,
            _ => return Ok(None),
        };
        let (control, epoch, clock) = (Arc::clone(&self.control), self.epoch, self.clock);
        let patience = self.deadline;
        let machine = self.first()?;
        // Peers may wait for completions that this rank owes, and a probing rank does not poll.
        machine.settle()?;
        let begun = Instant::now();
        let give_up = tending(&control, machine);
        let with = Measuring {
            role,
            window: Window { samples: PROBE_WINDOWS, rounds: PROBE_ROUNDS },
            timer: &clock,
            turn: 0,
            patience,
            give_up: &give_up,
        };
        let windows = probe(&control, epoch, &with);
        // Both ranks at once, as in a batch.
        let own = pace(&clock).min(u64::from(u32::MAX)) as u32;
        let peers = windows.as_ref().and_then(|_| report(&control, epoch, own, &with));
        let (Some(mut windows), Some(peers)) = (windows, peers) else {
            drop(give_up);
            let (waited, waiting_for) = (begun.elapsed(), "the placement probe");
            machine.look(Duration::ZERO, waiting_for)?;
            machine.tend()?;
            if waited > patience {
                return Err(CommError::Deadline { waited, waiting_for });
            }
            return Ok(None);
        };
        windows.sort_unstable();
        let line = windows.get(windows.len() / 2).copied();
        Ok(line.map(|line| ProbeTicks { line, pace: own.max(peers).into() }))
    }
}

/// A function that decides whether to stop waiting for the peer of a probe or floor: when the run ends, or after the
/// longest wait. It also lets messages make progress, because the peer may be waiting for one, or for an acknowledgment.
fn tending(control: &Control, machine: &mut dyn Machine) -> impl Fn(Duration, Duration) -> bool {
    let machine = RefCell::new(machine);
    move |waited, patience| {
        let is_gone = machine.borrow_mut().tend().is_err();
        std::thread::yield_now();
        is_gone || waited > patience || control.stopped() || control.poisoned().is_some()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::Ipv4Addr;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};

    use bandgap_comm::Delay;
    use bandgap_kernels::BareLoop;

    use super::*;
    use crate::floors::End;

    /// Where letters to the other rank go, and where its own come from.
    type Letters = (Sender<Vec<u8>>, Receiver<Vec<u8>>);

    /// A machine that only calls a function when tended, and that may have letters.
    struct Tended<F>(F, Option<Letters>);

    impl<F: FnMut() -> Result<bool>> Machine for Tended<F> {
        fn run(&mut self, _: &Order) -> Result<Outcome, Failed> {
            Ok(Outcome::default())
        }

        fn post(&mut self, _: Rank, letter: &[u8]) -> Result<()> {
            self.1.iter().for_each(|(to, _)| to.send(letter.to_vec()).unwrap());
            Ok(())
        }

        fn receive(&mut self, _: Rank) -> Result<Vec<u8>> {
            Ok(self.1.as_ref().map(|(_, from)| from.recv().unwrap()).unwrap_or_default())
        }

        fn settle(&mut self) -> Result<()> {
            Ok(())
        }

        fn tend(&mut self) -> Result<bool> {
            (self.0)()
        }

        fn look(&mut self, _: Duration, _: &'static str) -> Result<()> {
            Ok(())
        }

        fn capacity(&self) -> usize {
            1
        }

        fn time_delay(&mut self, _: Delay, _: u32, _: u32) -> Vec<u64> {
            Vec::new()
        }
    }

    /// The station of a rank; the flag is set once its messages have arrived.
    pub(crate) fn tended(control: &Arc<Control>, rank: Rank, arrived: &Arc<AtomicBool>) -> Station {
        // A network whose messages arrive when the machine is tended.
        let arrived = Arc::clone(arrived);
        let tend = move || {
            arrived.store(true, Ordering::Relaxed);
            Ok(true)
        };
        let machine: Box<dyn Machine> = Box::new(Tended(tend, None));
        let deadline = Duration::from_secs(60);
        let (ends, inherited, secret) = Default::default();
        let (interface, library) = (Ipv4Addr::LOCALHOST.into(), None);
        let bares = Bares { ends, inherited, secret, interface, library };
        Station {
            rank,
            size: 2,
            machines: vec![("tcp".parse().unwrap(), machine)],
            stamped: None,
            bares,
            control: Arc::clone(control),
            clock: CycleClock::calibrate(),
            deadline,
            epoch: 0,
            passed: 0,
        }
    }

    /// With a deadline of 0 the first check ends the wait; with a long one the end of the run does.
    #[test]
    fn a_probe_waits_as_long_as_the_deadline_says() {
        let control = Arc::new(Control::create().unwrap());
        let ended_by = |deadline| {
            let mut looks = 100_u32;
            let tend = move || {
                looks = looks.checked_sub(1).ok_or(CommError::Stopped)?;
                Ok(true)
            };
            let mut alone = tended(&control, 0, &Arc::default());
            alone.deadline = deadline;
            alone.machines[0].1 = Box::new(Tended(tend, None));
            alone.probe(Some([0, 1])).unwrap_err()
        };
        let error = ended_by(Duration::ZERO);
        assert!(matches!(error, CommError::Deadline { .. }), "{error:?}");
        let error = ended_by(Duration::from_secs(3600));
        assert!(matches!(error, CommError::Stopped), "{error:?}");
    }

    /// Carries out a floor whose peer comes once messages have arrived.
    fn floor(mut station: Station, arrived: Arc<AtomicBool>) -> Result<Outcome, Failed> {
        let end: End = Box::new(move |_, _, with| {
            (with.give_up)(Duration::ZERO, with.patience);
            match arrived.load(Ordering::Relaxed) {
                true => Ok(vec![1; with.window.samples as usize]),
                false => Err(CommError::Connect("the other side does not come".into())),
            }
        });
        station.bares.ends.push(("here".to_owned(), end));
        let kernel = BareLoop { floor: "floor".to_owned(), bytes: 8, rounds: 1, turn: 0 };
        let order = Order { on: Some("here".to_owned()), ..Order::of(&kernel, 3, 2) };
        Ok(station.carry_out(&order)?.outcome)
    }

    #[test]
    fn who_waits_in_a_floor_goes_on_with_its_messages() {
        let control = Arc::new(Control::create().unwrap());
        let arrived = Arc::new(AtomicBool::new(false));
        let done = floor(tended(&control, 1, &arrived), arrived).unwrap();
        // Three samples of a tick each.
        assert_eq!(done.stamps, [0, 1, 2, 3]);
    }

    #[test]
    fn who_waits_in_a_floor_for_a_peer_that_is_gone_says_so() {
        let control = Arc::new(Control::create().unwrap());
        let failed = |gone: bool| {
            let mut station = tended(&control, 1, &Arc::default());
            let tend = move || match gone {
                true => Err(CommError::PeerGone { peer: 0, detail: String::new() }),
                false => Ok(true),
            };
            station.machines[0].1 = Box::new(Tended(tend, None));
            floor(station, Arc::default()).unwrap_err()
        };
        assert!(matches!(failed(true), Failed::Comm(CommError::PeerGone { peer: 0, .. })));
        assert!(matches!(failed(false), Failed::Comm(CommError::Connect(_))));
    }

    /// The other rank's own is that of this machine, if it has one.
    #[test]
    fn a_library_that_one_rank_lacks_is_told_to_the_other_which_does_not_wait() {
        let control = Arc::new(Control::create().unwrap());
        let lacks = |rank, letters, library| {
            let mut station = tended(&control, rank, &Arc::default());
            station.machines[0].1 = Box::new(Tended(|| Ok(true), Some(letters)));
            station.bares.library = library;
            let kernel = BareLoop { floor: "uct_short".to_owned(), bytes: 8, rounds: 1, turn: 0 };
            let order = Order { on: Some("uct:tcp".to_owned()), ..Order::of(&kernel, 3, 2) };
            station.carry_out(&order).unwrap().outcome.unavailable.unwrap()
        };
        let ((there, second), (back, first)) = (channel(), channel());
        let missing = "/nonexistent/libucp.so.0";
        let [own, others] = std::thread::scope(|threads| {
            let own = threads.spawn(|| lacks(0, (there, first), Some(PathBuf::from(missing))));
            let others = lacks(1, (back, second), None);
            [own.join().unwrap(), others]
        });
        // UCT lies beside UCP.
        assert!(own.contains("/nonexistent/libuct.so.0"), "{own}");
        assert!(others.contains(&own) || others.contains("open libuct.so.0"), "{others}");
    }

    #[test]
    fn who_waits_for_a_probe_sees_to_it_that_the_peer_learns_of_it() {
        let control = Arc::new(Control::create().unwrap());
        let arrived = Arc::new(AtomicBool::new(false));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !arrived.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                tended(&control, 1, &Arc::default()).probe(Some([0, 1])).unwrap();
            });
            let probed = tended(&control, 0, &arrived).probe(Some([0, 1])).unwrap();
            assert!(probed.is_some());
        });
    }
}

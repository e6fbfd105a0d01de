//! Messages that leave a rank: through its interface, and over the network's channels if messages
//! share any.
//!
//! If there are shared channels, a circuit is asked for when the interface is free and virtual time
//! has reached that moment. The processor may be ahead of it; until then its messages wait here.

use super::World;
use crate::Protocol;
use crate::engine::clock::{Clock, Cost, Step, Time, Work};
use crate::engine::event::{Event, MessageKind, Queue, What};

/// A message that waits for a circuit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure<T> {
    /// Time at which the processor has finished with it.
    ready: T,
    to: u32,
    what: What,
}

impl<C: Clock, Q: Queue<C::At>> World<'_, Q, C> {
    /// Sends a message: os, then the interface as soon as it is free, then the network.
    #[inline(always)]
    pub(super) fn leave(&mut self, from: u32, to: u32, what: What) {
        let costs = self.machine.costs(what.bytes());
        let state = &mut self.ranks[from as usize];
        let work = Work::Send { to, bytes: what.bytes() };
        state.now = self.clock.work(from, state.now, costs.send_overhead, work);
        self.sent += 1;
        if self.machine.network.is_shared() {
            let ready = state.now;
            return self.line_up(from, Departure { ready, to, what });
        }
        let start = self.clock.wait(from, state.now, state.sending);
        state.sending = held(&self.clock, self.machine.turnaround, &costs, start, what);
        let latency = self.machine.flight(from, to, &costs);
        self.reach(latency, Event { time: start, to, from, what });
    }

    /// Lets a message's first byte reach its receiver's interface after `latency`, but not before
    /// that of an earlier message.
    #[inline(always)]
    fn reach(&mut self, latency: u64, event: Event<C::At>) {
        let Event { to, from, what, .. } = event;
        let mut time = self.clock.step(event.time, latency, Cost::Latency, Step::Flight);
        let may = matches!(what, What::Arrive(MessageKind::Reply { .. }));
        if self.overtaking.is_some() && !may {
            time = self.behind(time, latency, (from, to, matches!(what, What::Arrive(_))));
        }
        self.queue.push(Event { time, ..event });
    }

    /// Time at which a message reaches its receiver that would reach it at `time`: messages with
    /// bytes do not overtake one another, nor do requests, stores and gets. Replies may.
    #[cold]
    #[inline(never)]
    fn behind(&mut self, time: C::At, latency: u64, pair: (u32, u32, bool)) -> C::At {
        let Some([least, greatest]) = self.overtaking else { return time };
        let (_, to, _) = pair;
        let before = match self.reached.is_empty() || latency >= greatest {
            true => None,
            false => self.reached.get(&pair).copied(),
        };
        let time = before.map_or(time, |before| self.clock.wait(to, time, before));
        // The next message leaves a gap later; if it could not overtake this one, nothing need be
        // kept.
        if before.is_some() || latency >= least + self.machine.least_gap() {
            self.reached.insert(pair, time);
        }
        time
    }

    #[cold]
    #[inline(never)]
    fn line_up(&mut self, from: u32, departure: Departure<C::At>) {
        let departures = &mut self.departures[from as usize];
        departures.push_back(departure);
        if departures.len() == 1 {
            self.ask_for_circuit(from);
        }
    }

    /// Schedules the moment at which the first waiting message reaches the network.
    fn ask_for_circuit(&mut self, from: u32) {
        if let Some(first) = self.departures[from as usize].front() {
            let time = self.clock.wait(from, first.ready, self.ranks[from as usize].sending);
            self.queue.push(Event::own(time, from, What::Depart));
        }
    }

    /// Lets the first waiting message enter the network: its circuit begins as soon as possible,
    /// and holds the interface as long as the channels.
    pub(super) fn depart(&mut self, time: C::At, from: u32) {
        let departure = self.departures[from as usize].pop_front();
        let Some(Departure { to, what, .. }) = departure else { return };
        let costs = self.machine.costs(what.bytes());
        let start = self.clock.wait(from, time, self.circuits.free_from(from, to));
        let until = held(&self.clock, self.machine.turnaround, &costs, start, what);
        self.ranks[from as usize].sending = until;
        // Words are short: g belongs to the interface, and does not block a channel for other
        // pairs.
        self.circuits.hold(what.bytes().map_or(start, |_| until));
        let latency = self.machine.flight(from, to, &costs);
        self.reach(latency, Event { time: start, to, from, what });
        self.ask_for_circuit(from);
    }
}

/// Time at which the sender's interface is free again; a reply holds it for the turnaround at least.
#[inline(always)]
fn held<C: Clock>(clock: &C, turnaround: u64, costs: &Protocol, start: C::At, what: What) -> C::At {
    let costs = [costs.gap, costs.transfer(what.bytes())];
    let free = clock.held(start, costs, what.bytes(), [Step::OutGap, Step::OutBytes]);
    match what {
        What::Arrive(MessageKind::Reply { .. }) if turnaround > 0 => {
            free.later(clock.step(start, turnaround, Cost::Computation, Step::OutTurn))
        }
        _ => free,
    }
}

//! Messages that leave one rank: through its interface, and over the channels of the network if it
//! has any that messages share.
//!
//! Where there are such channels, a circuit is asked for when the interface is free and virtual time
//! has come there. A processor may be ahead of that: until then what it sends waits here.

use super::World;
use crate::Machine;
use crate::engine::clock::{Clock, Cost, Step, Work};
use crate::engine::event::{Event, Kind, Queue, What};

/// A message that waits for a circuit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure<T> {
    /// When the processor is done with it.
    ready: T,
    to: u32,
    what: What,
}

impl<C: Clock, Q: Queue<C::At>> World<'_, Q, C> {
    /// Sends a message: os, then the interface as soon as it may, then the network.
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
        state.sending = held(&self.clock, self.machine, start, what);
        let further = self.machine.further_hops(from, to, what.bytes());
        self.reach(costs.latency + further, Event { time: start, to, from, what });
    }

    /// A message's first byte comes to its receiver's interface so long after it left, or with the one
    /// before it.
    #[inline(always)]
    fn reach(&mut self, latency: u64, event: Event<C::At>) {
        let mut time = self.clock.step(event.time, latency, Cost::Latency, Step::Flight);
        if self.overtaking.is_some() {
            time = self.behind(time, latency, event);
        }
        self.queue.push(Event { time, ..event });
    }

    /// When a message that would reach its receiver at `time` does, since messages of bytes do not
    /// overtake one another, nor do requests, stores and gets. Replies may.
    #[cold]
    #[inline(never)]
    fn behind(&mut self, time: C::At, latency: u64, event: Event<C::At>) -> C::At {
        let Event { to, from, what, .. } = event;
        let Some([least, greatest]) = self.overtaking else { return time };
        if matches!(what, What::Arrive(Kind::Reply { .. })) {
            return time;
        }
        let pair = (from, to, matches!(what, What::Arrive(_)));
        let before = match self.reached.is_empty() || latency >= greatest {
            true => None,
            false => self.reached.get(&pair).copied(),
        };
        let time = before.map_or(time, |before| self.clock.wait(to, time, before));
        // The one behind leaves a gap later: it is none that could overtake.
        if before.is_some() || latency >= least + self.machine.gap {
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

    /// Has the queue tell when the first message that waits is at the network.
    fn ask_for_circuit(&mut self, from: u32) {
        if let Some(first) = self.departures[from as usize].front() {
            let time = self.clock.wait(from, first.ready, self.ranks[from as usize].sending);
            self.queue.push(Event::own(time, from, What::Depart));
        }
    }

    /// The first message that waits is at the network: its circuit begins when it may, and holds the
    /// interface as long as its channels.
    pub(super) fn depart(&mut self, time: C::At, from: u32) {
        let departure = self.departures[from as usize].pop_front();
        let Some(Departure { to, what, .. }) = departure else { return };
        let costs = self.machine.costs(what.bytes());
        let start = self.clock.wait(from, time, self.circuits.free_from(from, to));
        let until = held(&self.clock, self.machine, start, what);
        self.ranks[from as usize].sending = until;
        // Words are short: g is the interface's, and keeps no other pair's messages off a channel.
        self.circuits.hold(what.bytes().map_or(start, |_| until));
        let further = self.machine.further_hops(from, to, what.bytes());
        self.reach(costs.latency + further, Event { time: start, to, from, what });
        self.ask_for_circuit(from);
    }
}

/// When the sender's interface is free again.
#[inline(always)]
fn held<C: Clock>(clock: &C, machine: &Machine, start: C::At, what: What) -> C::At {
    let costs = [machine.gap, machine.costs(what.bytes()).transfer];
    clock.held(start, costs, what.bytes(), [Step::OutGap, Step::OutBytes])
}

//! Messages that leave one rank: through its interface, and over the channels of the network if it
//! has any that messages share.
//!
//! Where there are such channels, a circuit is asked for when the interface is free and virtual time
//! has come there. A processor may be ahead of that: until then what it sends waits here.

use super::Processor;
use crate::Machine;
use crate::engine::circuits::Circuits;
use crate::engine::event::{Queue, What};

/// Which messages to the peer in this slot a message does not overtake.
#[derive(Clone, Copy, Debug)]
pub(super) enum Behind {
    /// Those of bytes.
    Messages(usize),
    /// Requests, stores and gets.
    Requests(usize),
    /// None: it is a reply.
    Nothing,
}

/// A message that waits for a circuit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// When the processor is done with it.
    ready: u64,
    to: u32,
    behind: Behind,
    what: What,
}

impl Processor<'_> {
    /// Sends a message: os, then the interface as soon as it may, then the network.
    #[inline]
    pub(super) fn leave(
        &mut self,
        to: u32,
        behind: Behind,
        what: What,
        queue: &mut Queue,
        machine: &Machine,
    ) {
        let costs = machine.costs(what.bytes());
        self.now = self.now.saturating_add(costs.send_overhead);
        self.sent += 1;
        if machine.network.is_shared() {
            return self.line_up(Departure { ready: self.now, to, behind, what }, queue);
        }
        let start = self.sending.occupy(self.now, costs.transfer.max(machine.gap));
        self.reach(start.saturating_add(costs.latency), to, behind, what, queue);
    }

    /// A message's first byte comes to its receiver's interface at `time`, or with the one before it.
    #[inline]
    fn reach(&mut self, time: u64, to: u32, behind: Behind, what: What, queue: &mut Queue) {
        let before = match behind {
            Behind::Messages(slot) => &mut self.peers[slot].reached,
            Behind::Requests(slot) => &mut self.peers[slot].asked,
            Behind::Nothing => return queue.push(time, to, what),
        };
        *before = time.max(*before);
        queue.push(*before, to, what);
    }

    #[cold]
    #[inline(never)]
    fn line_up(&mut self, departure: Departure, queue: &mut Queue) {
        self.departures.push_back(departure);
        if self.departures.len() == 1 {
            self.ask_for_circuit(queue);
        }
    }

    /// Has the queue tell when the first message that waits is at the network.
    fn ask_for_circuit(&self, queue: &mut Queue) {
        if let Some(first) = self.departures.front() {
            queue.push(self.sending.free_at(first.ready), self.rank, What::Depart);
        }
    }

    /// The first message that waits is at the network: its circuit begins when it may, and holds the
    /// interface as long as its channels.
    pub(in crate::engine) fn depart(
        &mut self,
        time: u64,
        queue: &mut Queue,
        machine: &Machine,
        circuits: &mut Circuits<'_>,
    ) {
        let Some(Departure { to, behind, what, .. }) = self.departures.pop_front() else { return };
        let costs = machine.costs(what.bytes());
        let long = costs.transfer.max(machine.gap);
        // Words are short: g is the interface's, and keeps no other pair's messages off a channel.
        let held = what.bytes().map_or(0, |_| long);
        let start = circuits.begin(time, self.rank, to, held);
        let start = self.sending.occupy(start, long);
        let further = machine.further_hops(self.rank, to, what.bytes());
        self.reach(start.saturating_add(costs.latency + further), to, behind, what, queue);
        self.ask_for_circuit(queue);
    }
}

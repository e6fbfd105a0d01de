//! Active Messages at one rank: requests, stores, gets, and what answers them.

use super::{Accepted, Processor};
use crate::engine::event::{Kind, Parcel, Queue, What};
use crate::machine::{MessageCosts, Picoseconds};

impl Processor<'_> {
    /// A message reaches the interface, which accepts one per gap, and one byte per G. Returns
    /// whether the processor was waiting for it.
    #[inline]
    pub(in crate::engine) fn arrive(
        &mut self,
        time: u64,
        parcel: Parcel,
        machine: &Picoseconds<'_>,
    ) -> bool {
        let transfer = costs(parcel.kind, machine).transfer;
        let start = self.interface.accept(time, transfer.max(machine.gap));
        self.inbox.push_back(Accepted { ready: start.saturating_add(transfer), parcel });
        self.resume(time)
    }

    /// A request without reply has completed. Returns whether the processor was waiting.
    #[inline]
    pub(in crate::engine) fn complete(&mut self, time: u64, slot: u32) -> bool {
        self.silent -= 1;
        self.take_back(slot);
        self.resume(time)
    }

    /// Sends a request, a store or a get once it may. It does not overtake the one before it to the
    /// same rank. Returns whether it was sent.
    #[inline]
    pub(super) fn ask(
        &mut self,
        peer: u32,
        kind: Kind,
        capacity: u32,
        queue: &mut Queue,
        machine: &Picoseconds<'_>,
    ) -> bool {
        let slot = self.slot(peer);
        if !self.make_room(slot, capacity, queue, machine) {
            return false;
        }
        let reached = self.leave(kind, machine);
        let to = &mut self.peers[slot];
        to.outstanding += 1;
        to.asked = to.asked.max(reached);
        self.outstanding += 1;
        self.silent += u64::from(kind.is_silent());
        let parcel = Parcel { from: self.rank, slot: slot as u32, kind };
        queue.push(to.asked, peer, What::Arrive(parcel));
        true
    }

    /// What a request does before it sends: handles what has arrived when it begins, and then goes
    /// on handling only while there is no room toward the peer in `slot`. What arrives meanwhile
    /// cannot keep it from sending. Returns whether it may send now.
    #[inline]
    fn make_room(
        &mut self,
        slot: usize,
        capacity: u32,
        queue: &mut Queue,
        machine: &Picoseconds<'_>,
    ) -> bool {
        let begun = *self.begun.get_or_insert(self.now);
        loop {
            if (self.now == begun || self.silent > 0) && !self.caught_up(queue) {
                return false;
            }
            let was_there = self.inbox.front().is_some_and(|m| m.ready <= begun);
            if !was_there && self.peers[slot].outstanding < capacity {
                self.begun = None;
                return true;
            }
            if !self.handle_next(queue, machine) {
                return false;
            }
        }
    }

    /// Handles the next message if it is known to be the next thing that happens to this
    /// processor. Otherwise arranges for the processor to go on when that is known.
    #[inline]
    pub(super) fn handle_next(&mut self, queue: &mut Queue, machine: &Picoseconds<'_>) -> bool {
        match self.inbox.front().copied() {
            Some(next) if next.ready <= self.now || self.silent == 0 => {
                self.inbox.pop_front();
                self.handle(next, queue, machine);
                true
            }
            next => {
                if let Some(next) = next {
                    self.wake_at(next.ready, queue);
                }
                self.waiting = true;
                false
            }
        }
    }

    /// Receives a message once it is whole: or, and os more for a request with a reply.
    #[inline]
    pub(super) fn handle(&mut self, next: Accepted, queue: &mut Queue, machine: &Picoseconds<'_>) {
        let Parcel { from, slot, kind } = next.parcel;
        self.steps += 1;
        let recv_overhead = costs(kind, machine).recv_overhead;
        self.now = self.now.max(next.ready).saturating_add(recv_overhead);
        let reply = match kind {
            Kind::Reply | Kind::Got { .. } => return self.take_back(slot),
            Kind::Get { bytes } => Kind::Got { bytes },
            Kind::Request { replies } | Kind::Store { replies, .. } => {
                self.handled += 1;
                if !replies {
                    let back = self.now.saturating_add(machine.latency);
                    return queue.push(back, from, What::Complete { slot });
                }
                Kind::Reply
            }
        };
        let reached = self.leave(reply, machine);
        let parcel = Parcel { from: self.rank, slot, kind: reply };
        queue.push(reached, from, What::Arrive(parcel));
    }

    /// Sends a message: os, then the interface as soon as it may. Returns when it is at the
    /// receiver's.
    #[inline]
    fn leave(&mut self, kind: Kind, machine: &Picoseconds<'_>) -> u64 {
        let costs = costs(kind, machine);
        self.now = self.now.saturating_add(costs.send_overhead);
        let start = self.interface.leave(self.now, costs.transfer.max(machine.gap));
        self.sent += 1;
        start.saturating_add(costs.latency)
    }

    #[inline]
    fn take_back(&mut self, slot: u32) {
        self.outstanding -= 1;
        self.peers[slot as usize].outstanding -= 1;
    }
}

/// What an Active Message costs. One that carries bytes costs what a message of these bytes does.
#[inline]
fn costs(kind: Kind, machine: &Picoseconds<'_>) -> MessageCosts {
    match kind.bytes() {
        None => machine.words(),
        Some(bytes) => machine.message(bytes),
    }
}

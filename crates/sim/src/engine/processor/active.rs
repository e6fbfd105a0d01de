//! Active Messages at one rank: requests, stores, gets, and what answers them.

use super::departures::Behind;
use super::{Accepted, Processor};
use crate::Machine;
use crate::engine::event::{Kind, Parcel, Queue, What};

impl Processor<'_> {
    /// An Active Message reaches the interface. Returns whether the processor was waiting for it.
    #[inline]
    pub(in crate::engine) fn arrive(
        &mut self,
        time: u64,
        parcel: Parcel,
        machine: &Machine,
    ) -> bool {
        let ready = self.accept(time, parcel.kind.bytes(), machine);
        self.inbox.push_back(Accepted { ready, parcel });
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
        queue: &mut Queue,
        machine: &Machine,
    ) -> bool {
        let slot = self.slot(peer);
        if !self.make_room(slot, queue, machine) {
            return false;
        }
        self.peers[slot].outstanding += 1;
        self.outstanding += 1;
        self.silent += u64::from(kind.is_silent());
        let parcel = Parcel { from: self.rank, slot: slot as u32, kind };
        self.leave(peer, Behind::Requests(slot), What::Arrive(parcel), queue, machine);
        true
    }

    /// What a request does before it sends: handles what has arrived when it begins, and then goes
    /// on handling only while there is no room toward the peer in `slot`. What arrives meanwhile
    /// cannot keep it from sending. Returns whether it may send now.
    #[inline]
    fn make_room(&mut self, slot: usize, queue: &mut Queue, machine: &Machine) -> bool {
        let begun = *self.begun.get_or_insert(self.now);
        loop {
            if (self.now == begun || self.silent > 0) && !self.caught_up(queue) {
                return false;
            }
            let was_there = self.inbox.front().is_some_and(|m| m.ready <= begun);
            if !was_there && self.peers[slot].outstanding < machine.capacity {
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
    pub(super) fn handle_next(&mut self, queue: &mut Queue, machine: &Machine) -> bool {
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
    pub(super) fn handle(&mut self, next: Accepted, queue: &mut Queue, machine: &Machine) {
        let Parcel { from, slot, kind } = next.parcel;
        self.steps += 1;
        self.take(next.ready, kind.bytes(), machine);
        let bytes = match kind {
            Kind::Reply { .. } => return self.take_back(slot),
            Kind::Get { bytes } => Some(bytes),
            Kind::Request { replies, .. } => {
                self.handled += 1;
                if !replies {
                    let further = machine.further_hops(self.rank, from, None);
                    let back = self.now.saturating_add(machine.latency + further);
                    return queue.push(back, from, What::Complete { slot });
                }
                None
            }
        };
        let parcel = Parcel { from: self.rank, slot, kind: Kind::Reply { bytes } };
        self.leave(from, Behind::Nothing, What::Arrive(parcel), queue, machine);
    }

    #[inline]
    fn take_back(&mut self, slot: u32) {
        self.outstanding -= 1;
        self.peers[slot as usize].outstanding -= 1;
    }
}

//! Active Messages at one rank: requests, stores, gets, and their replies.

use std::collections::VecDeque;

use super::{State, World};
use crate::engine::clock::{Clock, Cost, Step, Time};
use crate::engine::event::{Event, MessageKind, Queue, What};

/// State of a rank's Active Messages.
#[derive(Debug, Default)]
pub(super) struct Active<T> {
    /// Messages that were not handled.
    pub(super) inbox: VecDeque<Accepted<T>>,
    /// Number of requests that have not completed, by peer in ascending order.
    peers: Vec<(u32, u32)>,
    pub(super) outstanding: u64,
    /// Outstanding requests that complete without a reply.
    silent: u64,
    /// Handled requests that no `Serve` has counted yet.
    pub(super) handled: u64,
    /// Time at which the request that is not sent yet began.
    begun: Option<T>,
    /// Whether the rank continues only when something arrives.
    waiting: bool,
    /// Time at which it will be woken; a wake event with another time is outdated.
    alarm: Option<T>,
}

/// A message in the interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted<T> {
    ready: T,
    from: u32,
    kind: MessageKind,
}

impl<T> Active<T> {
    /// Number of requests to `peer` that have not completed.
    fn toward(&mut self, peer: u32) -> &mut u32 {
        let at = self.peers.partition_point(|(other, _)| *other < peer);
        if self.peers.get(at).is_none_or(|(other, _)| *other != peer) {
            self.peers.insert(at, (peer, 0));
        }
        &mut self.peers[at].1
    }

    fn take_back(&mut self, peer: u32) {
        self.outstanding -= 1;
        *self.toward(peer) -= 1;
    }
}

impl<T: Time> State<T> {
    fn active(&mut self) -> &mut Active<T> {
        self.active.get_or_insert_default()
    }

    /// Ends a wait at `time`, or later if the processor is ahead. Returns whether the rank was
    /// waiting.
    fn resume(&mut self, time: T) -> bool {
        let active = self.active.get_or_insert_default();
        if active.waiting {
            self.now = self.now.later(time);
            active.alarm = None;
        }
        std::mem::take(&mut active.waiting)
    }
}

impl<C: Clock, Q: Queue<C::At>> World<'_, Q, C> {
    fn active(&mut self, rank: u32) -> &mut Active<C::At> {
        self.ranks[rank as usize].active()
    }

    /// Accepts an Active Message at the interface. Returns whether the processor was waiting for
    /// it.
    pub(super) fn arrive(&mut self, time: C::At, to: u32, from: u32, kind: MessageKind) -> bool {
        let costs = self.machine.costs(kind.bytes());
        let ready = self.accept(time, to, kind.bytes(), &costs);
        let state = &mut self.ranks[to as usize];
        state.active().inbox.push_back(Accepted { ready, from, kind });
        state.resume(time)
    }

    /// Completes a request without a reply. Returns whether the processor was waiting.
    pub(super) fn complete(&mut self, time: C::At, rank: u32, peer: u32) -> bool {
        let state = &mut self.ranks[rank as usize];
        let active = state.active();
        active.silent -= 1;
        active.take_back(peer);
        state.resume(time)
    }

    /// Wakes the processor. Returns whether it still wants that.
    pub(super) fn wake(&mut self, time: C::At, rank: u32) -> bool {
        let state = &mut self.ranks[rank as usize];
        let wanted = state.active().alarm.take_if(|alarm| *alarm == time).is_some();
        if wanted {
            state.resume(time);
        }
        wanted
    }

    fn wake_at(&mut self, time: C::At, rank: u32) {
        self.active(rank).alarm = Some(time);
        self.queue.wake_at(time, rank);
    }

    /// Whether everything that arrives until this processor's time is in its inbox. If not, the
    /// processor continues when it is.
    fn caught_up(&mut self, rank: u32) -> bool {
        let now = self.ranks[rank as usize].now;
        let settled = self.queue.settled(now);
        if !settled {
            self.wake_at(now, rank);
        }
        settled
    }

    /// Handles requests until `requests` have been handled. Returns whether that is done.
    pub(super) fn serve(&mut self, rank: u32, requests: u64) -> bool {
        // Only the next message matters here, whenever it arrives.
        loop {
            let active = self.active(rank);
            if active.handled >= requests {
                active.handled -= requests;
                return true;
            }
            let Some(next) = active.inbox.pop_front() else {
                active.waiting = true;
                return false;
            };
            self.handle(rank, next);
        }
    }

    /// Handles arrivals until all requests have completed. Returns whether they have.
    pub(super) fn await_replies(&mut self, rank: u32) -> bool {
        while self.active(rank).outstanding > 0 {
            if self.active(rank).silent > 0 && !self.caught_up(rank) {
                return false;
            }
            if !self.handle_next(rank) {
                return false;
            }
        }
        true
    }

    /// Sends a request, a store or a get as soon as it may. Returns whether it was sent.
    pub(super) fn ask(&mut self, rank: u32, peer: u32, kind: MessageKind) -> bool {
        if !self.make_room(rank, peer) {
            return false;
        }
        let active = self.active(rank);
        *active.toward(peer) += 1;
        active.outstanding += 1;
        active.silent += u64::from(matches!(kind, MessageKind::Request { replies: false, .. }));
        self.leave(rank, peer, What::Arrive(kind));
        true
    }

    /// Makes room for a request: handles what had arrived when it began, and then continues only
    /// while there is no room for the peer. Later arrivals cannot keep it from sending. Returns
    /// whether it may send now.
    fn make_room(&mut self, rank: u32, peer: u32) -> bool {
        let now = self.ranks[rank as usize].now;
        let begun = *self.active(rank).begun.get_or_insert(now);
        loop {
            let now = self.ranks[rank as usize].now;
            if (now == begun || self.active(rank).silent > 0) && !self.caught_up(rank) {
                return false;
            }
            let capacity = self.machine.capacity;
            let active = self.active(rank);
            let was_there = active.inbox.front().is_some_and(|m| m.ready <= begun);
            if !was_there && *active.toward(peer) < capacity {
                active.begun = None;
                return true;
            }
            if !self.handle_next(rank) {
                return false;
            }
        }
    }

    /// Handles the next message, if it is certainly the next event of this processor. Otherwise
    /// arranges for the processor to continue when that is certain.
    fn handle_next(&mut self, rank: u32) -> bool {
        let now = self.ranks[rank as usize].now;
        let active = self.active(rank);
        match active.inbox.front().copied() {
            Some(next) if next.ready <= now || active.silent == 0 => {
                active.inbox.pop_front();
                self.handle(rank, next);
                true
            }
            next => {
                active.waiting = true;
                if let Some(next) = next {
                    self.wake_at(next.ready, rank);
                }
                false
            }
        }
    }

    /// Handles a message once it is complete, which costs or, and os more for a request with a
    /// reply.
    fn handle(&mut self, rank: u32, next: Accepted<C::At>) {
        let Accepted { ready, from, kind } = next;
        self.steps += 1;
        self.take(rank, ready, kind.bytes(), &self.machine.costs(kind.bytes()));
        let bytes = match kind {
            MessageKind::Reply { .. } => return self.active(rank).take_back(from),
            MessageKind::Get { bytes } => Some(bytes),
            MessageKind::Request { replies, .. } => {
                self.active(rank).handled += 1;
                if !replies {
                    let latency = self.machine.flight(rank, from, &self.machine.costs(None));
                    let now = self.ranks[rank as usize].now;
                    let time = self.clock.step(now, latency, Cost::Latency, Step::Flight);
                    let (to, from) = (from, rank);
                    return self.queue.push(Event { time, to, from, what: What::Complete });
                }
                None
            }
        };
        self.leave(rank, from, What::Arrive(MessageKind::Reply { bytes }));
    }
}

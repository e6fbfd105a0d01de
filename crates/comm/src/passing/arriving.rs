//! What handlers do: match what arrives with receives, check what peers say, and leave the rest as
//! work.

use super::entries::{Arrival, Body, Giving, Into, Memory, Receive, Taking, Work};
use super::inline;
use super::mail::Mail;
use super::matching::{Envelope, Filter, Status};
use crate::{Rank, Word};

impl Mail {
    /// Notes what a peer may not send; the rank fails when it next looks.
    #[cold]
    pub(super) fn garbage(&mut self, from: Rank, what: String) {
        self.fault.get_or_insert((from, what));
        self.attention = true;
        // Ends a wait, which then finds the fault.
        self.waited.filter.close_aside();
    }

    /// The receive that takes a message which arrives now: the first posted that matches, else the
    /// one that the rank waits in.
    fn matching(&mut self, envelope: Envelope, bytes: usize) -> Option<usize> {
        let Self { posted, receives, waited, .. } = self;
        let found = posted.iter().position(|&key| receives[key].filter.takes(envelope));
        let key = match found.and_then(|at| posted.remove(at)) {
            Some(key) => key,
            None if waited.filter.takes(envelope) => {
                waited.filter.close_aside();
                let key =
                    receives.insert(Receive::new(Filter::nobody(), Memory::Lent(waited.room)));
                waited.receive = Some(key);
                key
            }
            None => return None,
        };
        let receive = &mut receives[key];
        (receive.envelope, receive.bytes) = (envelope, bytes);
        Some(key)
    }

    /// A message in words that the rank does not wait for, or not by itself.
    #[cold]
    #[inline(never)]
    pub(super) fn arrived_in_words(&mut self, envelope: Envelope, bytes: u64, words: [Word; 3]) {
        if bytes > inline::INLINE as u64 {
            let what = format!("a message of {bytes} bytes in the {} of words", inline::INLINE);
            return self.garbage(envelope.from(), what);
        }
        let bytes = bytes as usize;
        match self.matching(envelope, bytes) {
            Some(key) => {
                let receive = &mut self.receives[key];
                let fits = bytes <= receive.memory.len();
                receive.state = if fits { Taking::Words(words) } else { Taking::TooLong };
            }
            None => self.arrivals.push_back(Arrival { envelope, bytes, body: Body::Words(words) }),
        }
    }

    /// A message in a slot.
    pub(super) fn arrived_in_slot(&mut self, envelope: Envelope, bytes: u64, slot: u64) {
        let from = envelope.from();
        let Some(bytes) = self.occupy(from, bytes, self.layout.eager, slot) else { return };
        if self.wait_ends_in_slot(envelope, bytes, slot) {
            return;
        }
        let into = match self.matching(envelope, bytes) {
            Some(key) => {
                let receive = &mut self.receives[key];
                if bytes <= receive.memory.len() {
                    receive.state = Taking::Coming;
                    Into::Receive { receive: key, at: receive.expect(bytes) }
                } else {
                    receive.state = Taking::TooLong;
                    Into::Nowhere
                }
            }
            None => {
                let body = Body::Bytes(Vec::new());
                self.arrivals.push_back(Arrival { envelope, bytes, body });
                Into::Arrival { index: self.arrivals.len() - 1 }
            }
        };
        self.work.push_back(Work::Copy { from, slot, bytes, into });
        self.attention = true;
    }

    /// A message that is still at its sender.
    pub(super) fn announced(&mut self, envelope: Envelope, bytes: u64, send: u64, address: u64) {
        let Ok(bytes) = usize::try_from(bytes) else {
            let what = format!("a message of {bytes} bytes, more than memory can have");
            return self.garbage(envelope.from(), what);
        };
        match self.matching(envelope, bytes) {
            Some(key) => {
                self.receives[key].state = Taking::Announced { send, address };
                self.work.push_back(Work::Answer { receive: key });
                self.attention = true;
            }
            None => {
                let body = Body::Announced { send, address };
                self.arrivals.push_back(Arrival { envelope, bytes, body });
            }
        }
    }

    /// A peer answered an announcement: it takes the bytes, or needs none of them any more.
    pub(super) fn answered(&mut self, from: Rank, send: u64, receive: u64, wanted: bool) {
        let key = usize::try_from(send).unwrap_or(usize::MAX);
        let known = self
            .sends
            .get_mut(key)
            .filter(|send| send.envelope.from() == from && send.state == Giving::Announced);
        let Some(entry) = known else {
            let what = format!("an answer to send {send}, which was not announced to it");
            return self.garbage(from, what);
        };
        if wanted {
            entry.state = Giving::Cleared { receive, stored: 0 };
            self.lanes[from].cleared.push_back(key);
            self.activate(from);
        } else {
            entry.state = Giving::Done;
        }
    }

    /// A piece of a message that a receive has taken.
    pub(super) fn piece(&mut self, from: Rank, receive: u64, bytes: u64, slot: u64) {
        let Some(bytes) = self.occupy(from, bytes, self.layout.chunk, slot) else { return };
        let key = usize::try_from(receive).unwrap_or(usize::MAX);
        let known = self
            .receives
            .get_mut(key)
            .filter(|receive| receive.envelope.from() == from && receive.state == Taking::Coming);
        let Some(entry) = known else {
            let what = format!("{bytes} bytes for receive {receive}, which takes none of them");
            return self.garbage(from, what);
        };
        if bytes == 0 || bytes > entry.bytes - entry.told {
            let left = entry.bytes - entry.told;
            let what = format!("a piece of {bytes} bytes of a message of which {left} are left");
            return self.garbage(from, what);
        }
        let into = Into::Receive { receive: key, at: entry.expect(bytes) };
        self.work.push_back(Work::Copy { from, slot, bytes, into });
        self.attention = true;
    }

    /// Books a slot that a peer says it filled, and its length if both are as they must be.
    fn occupy(&mut self, from: Rank, bytes: u64, most: usize, slot: u64) -> Option<usize> {
        let lane = &mut self.lanes[from];
        let expected = self.layout.slot(lane.filled);
        let free = lane.filled - lane.given_back < self.layout.slots;
        if slot != expected || !free {
            let slots = self.layout.slots;
            let what = format!(
                "bytes in slot {slot} of {slots}, where slot {expected} is next and {} are its own",
                slots - (lane.filled - lane.given_back)
            );
            self.garbage(from, what);
            return None;
        }
        if bytes > most as u64 {
            self.garbage(from, format!("{bytes} bytes in a slot for {most}"));
            return None;
        }
        lane.filled += 1;
        Some(bytes as usize)
    }

    /// A peer gives slots back.
    pub(super) fn returned(&mut self, from: Rank, slots: u64) {
        let lane = &mut self.lanes[from];
        let out = lane.stored - lane.freed;
        if slots > out {
            return self.garbage(from, format!("{slots} slots given back of {out} in use"));
        }
        lane.freed += slots;
        if lane.listed {
            self.attention = true;
        }
    }

    /// A peer has come to a round of a barrier.
    pub(super) fn at_barrier(&mut self, from: Rank, round: u64) {
        let size = self.lanes.len();
        let sender = |round: usize| (self.rank + size - (1 << round) % size) % size;
        match usize::try_from(round).ok().filter(|&round| round < self.barrier.len()) {
            Some(round) if sender(round) == from => self.barrier[round] += 1,
            _ => self.garbage(from, format!("round {round} of a barrier of {size} ranks")),
        }
    }

    /// Something waits to be sent to `peer`.
    pub(super) fn activate(&mut self, peer: Rank) {
        if !std::mem::replace(&mut self.lanes[peer].listed, true) {
            self.active.push(peer);
        }
        self.attention = true;
    }

    /// The oldest message that no receive has taken and that `filter` takes.
    pub(super) fn find_arrival(&self, filter: Filter) -> Option<usize> {
        self.arrivals.iter().position(|arrival| filter.takes(arrival.envelope))
    }

    /// Status of an arrival.
    pub(super) fn status_of(&self, index: usize) -> Status {
        let arrival = &self.arrivals[index];
        arrival.envelope.status(arrival.bytes)
    }
}

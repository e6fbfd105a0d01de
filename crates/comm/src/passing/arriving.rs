//! What handlers do: check what peers say, match what arrives with receives, and leave copying.

use super::entries::{Arrival, Body, CopyOut, Giving, Into, Receive, Taking};
use super::handlers::Kind;
use super::inline;
use super::mail::Mail;
use super::matching::Envelope;
use crate::{Message, Rank, Word};

impl Mail {
    /// Notes that a peer sent what no peer may send. The rank's current or next call fails.
    #[cold]
    pub(super) fn garbage(&mut self, from: Rank, what: String) {
        self.fault.get_or_insert((from, what));
        self.attention = true;
        // Ends a wait, which then finds the fault.
        self.waited.message = None;
    }

    /// Number of the receive that takes a message that arrives now: of the first posted that
    /// matches, else of the one that the rank waits in.
    fn matching(&mut self, envelope: Envelope) -> Option<usize> {
        let Self { posted, receives, waited, .. } = self;
        let found = posted.iter().position(|&key| receives[key].envelope == envelope);
        match found.and_then(|at| posted.remove(at)) {
            Some(key) => Some(key),
            None if waited.message == Some(envelope) => {
                waited.message = None;
                let key = receives.insert(Receive::new(envelope, waited.into));
                waited.receive = Some(key);
                Some(key)
            }
            None => None,
        }
    }

    /// A message in words that is not what the rank waits for by itself.
    #[cold]
    #[inline(never)]
    pub(super) fn arrived_in_words(&mut self, envelope: Envelope, bytes: u64, words: [Word; 3]) {
        if bytes > inline::INLINE as u64 {
            let what = format!("{bytes} bytes in words, which have room for {}", inline::INLINE);
            return self.garbage(envelope.peer(), what);
        }
        let bytes = bytes as usize;
        match self.matching(envelope) {
            Some(key) => self.receives[key].arrived(bytes, Taking::Words(words)),
            None => self.arrivals.push_back(Arrival { envelope, bytes, body: Body::Words(words) }),
        }
    }

    /// A message in a slot.
    pub(super) fn arrived_in_slot(&mut self, envelope: Envelope, bytes: u64, slot: u64) {
        let from = envelope.peer();
        let Some((bytes, slot)) = self.occupy(from, bytes, self.layout.eager, slot) else { return };
        let into = match self.matching(envelope) {
            Some(key) => {
                let receive = &mut self.receives[key];
                receive.arrived(bytes, Taking::Coming);
                match receive.state {
                    Taking::Coming => Into::Receive { receive: key, part: receive.expect(bytes) },
                    _ => Into::Nowhere,
                }
            }
            None => {
                let body = Body::Bytes(Vec::new());
                self.arrivals.push_back(Arrival { envelope, bytes, body });
                Into::Arrival { index: self.arrivals.len() - 1 }
            }
        };
        self.copies.push_back(CopyOut { from, slot, bytes, into });
        self.attention = true;
    }

    /// A message that is still at its sender.
    pub(super) fn announced(&mut self, envelope: Envelope, bytes: u64, send: u64, at: Word) {
        let Ok(bytes) = usize::try_from(bytes) else {
            let what = format!("a message of {bytes} bytes, more than a memory can have");
            return self.garbage(envelope.peer(), what);
        };
        match self.matching(envelope) {
            Some(key) => self.take_announced(key, bytes, send, at),
            None => {
                let body = Body::Announced { send, at };
                self.arrivals.push_back(Arrival { envelope, bytes, body });
            }
        }
    }

    /// A receive takes a message that is still at its sender. It answers now, or when it has read the
    /// bytes where they are offered.
    pub(super) fn take_announced(&mut self, key: usize, bytes: usize, send: u64, at: Word) {
        let receive = &mut self.receives[key];
        if self.way.takes(at, bytes) {
            receive.arrived(bytes, Taking::Reading { send, at });
            if receive.state != Taking::OtherLength {
                self.reads.push_back(key);
                self.attention = true;
                return;
            }
        }
        receive.arrived(bytes, if bytes == 0 { Taking::Done } else { Taking::Coming });
        let wanted = Word::from(receive.state == Taking::Coming);
        let peer = receive.envelope.peer();
        let handler = Kind::Answer.after(self.first);
        self.tell_later(peer, Message::new(handler, [send, key as Word, wanted]));
    }

    /// A peer answered an announcement: it waits for the bytes (`wanted`), or does not need them.
    pub(super) fn answered(&mut self, from: Rank, send: u64, receive: u64, wanted: bool) {
        let key = usize::try_from(send).unwrap_or(usize::MAX);
        let known = self
            .sends
            .get_mut(key)
            .filter(|send| send.envelope.peer() == from && send.state == Giving::Announced);
        let Some(entry) = known else {
            let what = format!("an answer to send {send}, which is not announced to it");
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
        let Some((bytes, slot)) = self.occupy(from, bytes, self.layout.chunk, slot) else { return };
        let key = usize::try_from(receive).unwrap_or(usize::MAX);
        let known = self
            .receives
            .get_mut(key)
            .filter(|receive| receive.envelope.peer() == from && receive.state == Taking::Coming);
        let Some(entry) = known else {
            let what = format!("{bytes} bytes for receive {receive}, which does not wait for them");
            return self.garbage(from, what);
        };
        if bytes == 0 || bytes > entry.bytes - entry.told {
            let left = entry.bytes - entry.told;
            let what = format!("a piece of {bytes} bytes of a message of which {left} are left");
            return self.garbage(from, what);
        }
        let into = Into::Receive { receive: key, part: entry.expect(bytes) };
        self.copies.push_back(CopyOut { from, slot, bytes, into });
        self.attention = true;
    }

    /// Notes that a peer filled a slot with so many bytes, at most `most`. Returns the number of
    /// bytes and the slot if a peer may do that.
    fn occupy(&mut self, from: Rank, bytes: u64, most: usize, slot: u64) -> Option<(usize, u16)> {
        if bytes > most as u64 {
            self.garbage(from, format!("{bytes} bytes in a slot for {most}"));
            return None;
        }
        self.occupied(from, slot).map(|slot| (bytes as usize, slot))
    }

    /// Notes that a peer filled a slot. Returns its number if a peer may do that.
    #[inline]
    pub(super) fn occupied(&mut self, from: Rank, slot: Word) -> Option<u16> {
        let filled = self.lanes[from].slots.fill(slot);
        if filled.is_none() {
            self.garbage(from, format!("bytes in slot {slot}, which is not with it"));
        }
        filled
    }

    /// A peer gives slots back.
    pub(super) fn returned(&mut self, from: Rank, slots: Word) {
        let lane = &mut self.lanes[from];
        if let Err(slot) = lane.slots.take_back(slots) {
            return self.garbage(from, format!("slot {slot} given back, which is not with it"));
        }
        if lane.listed && slots != 0 {
            self.attention = true;
        }
    }

    /// Something waits to be sent to `peer`.
    pub(super) fn activate(&mut self, peer: Rank) {
        if !std::mem::replace(&mut self.lanes[peer].listed, true) {
            self.active.push(peer);
        }
        self.attention = true;
    }

    /// The oldest arrival from this sender with this tag.
    pub(super) fn find_arrival(&self, envelope: Envelope) -> Option<usize> {
        self.arrivals.iter().position(|arrival| arrival.envelope == envelope)
    }
}

//! What handlers do: check what peers sent, match arrivals with receives, and queue copies.

use super::entries::{Arrival, Body, CopyOut, Envelope, Giving, Receive, Taking};
use super::handlers::HandlerOffset;
use super::inline;
use super::lane::{Coming, Lane};
use super::mail::{Mail, Waited};
use super::slots::CARRIED;
use super::tuning::Cut;
use crate::{AHEAD, Message, Part, Rank, Word};

impl Mail {
    /// Notes that a peer violated the protocol. The rank's current or next call fails.
    #[cold]
    pub(super) fn garbage(&mut self, from: Rank, what: String) {
        self.fault.get_or_insert((from, what));
        self.attention = true;
        // Ends a wait, which then finds the fault.
        self.waited.message = None;
    }

    /// Key of the receive that takes a message that arrives now: the first posted one that matches,
    /// or else the one that the rank waits in.
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

    /// Takes a message in words, unless the rank takes it without the handlers.
    #[cold]
    #[inline(never)]
    pub(super) fn arrived_in_words(&mut self, envelope: Envelope, bytes: u64, words: [Word; 3]) {
        if bytes > inline::INLINE as u64 {
            let what = format!("{bytes} bytes in words (limit {})", inline::INLINE);
            return self.garbage(envelope.peer(), what);
        }
        let bytes = bytes as usize;
        match self.matching(envelope) {
            Some(key) => self.receives[key].arrived(bytes, Taking::Words(words)),
            None => self.arrivals.push_back(Arrival { envelope, bytes, body: Body::Words(words) }),
        }
    }

    /// Takes a message in a slot.
    pub(super) fn arrived_in_slot(&mut self, envelope: Envelope, bytes: u64, slot: u64) {
        let Some((bytes, slot)) = self.occupy(envelope.peer(), bytes, slot, self.layout.chunk)
        else {
            return;
        };
        let receive = self.arrived_in_pieces(envelope, bytes, bytes, None);
        self.copy_later(envelope.peer(), slot, bytes, receive);
    }

    /// Takes the first piece of a message of `bytes` bytes.
    pub(super) fn first_piece(&mut self, envelope: Envelope, send: u64, bytes: u64, slot: u64) {
        let from = envelope.peer();
        let whole = usize::try_from(bytes).unwrap_or(usize::MAX);
        let Cut { piece, ahead } = self.layout.cut(whole);
        if piece >= whole || self.lanes[from].coming.is_some() {
            let what = format!("an unexpected first piece of a message of {bytes} bytes");
            return self.garbage(from, what);
        }
        let Some((piece, slot)) = self.occupy(from, piece as u64, slot, self.layout.chunk) else {
            return;
        };
        let send = (ahead < whole).then_some(send);
        let receive = self.arrived_in_pieces(envelope, whole, ahead, send);
        let left = ahead - piece;
        self.lanes[from].coming = (left > 0).then_some(Coming { receive, left });
        self.copy_later(from, slot, piece, receive);
    }

    /// Takes the next piece of the message that the peer has begun.
    pub(super) fn next_piece(&mut self, from: Rank, bytes: u64, slot: u64) {
        let Some((bytes, slot)) = self.occupy(from, bytes, slot, self.layout.chunk) else { return };
        let coming = &mut self.lanes[from].coming;
        let left = coming.map_or(0, |coming| coming.left);
        let receive = coming.and_then(|coming| coming.receive);
        let wanted = receive.is_none_or(|key| {
            self.receives.get(key).is_some_and(|receive| bytes <= receive.bytes - receive.told)
        });
        if bytes == 0 || bytes > left || !wanted {
            let what = format!("a piece of {bytes} bytes of a message with {left} bytes left");
            return self.garbage(from, what);
        }
        *coming = (bytes < left).then_some(Coming { receive, left: left - bytes });
        self.copy_later(from, slot, bytes, receive);
    }

    /// Key of the receive for a message of `bytes` bytes, of which `ahead` arrive in pieces: a
    /// matching one, or a new one that keeps the pieces; none if the matching one has another
    /// length. Answers `send` if it needs an answer.
    fn arrived_in_pieces(
        &mut self,
        envelope: Envelope,
        bytes: usize,
        ahead: usize,
        send: Option<u64>,
    ) -> Option<usize> {
        let Some(key) = self.matching(envelope) else {
            let receive = self.receives.insert(Receive::untaken(envelope, bytes, ahead));
            let body = Body::Pieces { receive, send };
            self.arrivals.push_back(Arrival { envelope, bytes, body });
            return Some(receive);
        };
        let receive = &mut self.receives[key];
        receive.arrived(bytes, Taking::Coming);
        let fits = receive.state == Taking::Coming;
        if let Some(send) = send {
            self.answer(envelope.peer(), send, key, fits);
        }
        fits.then_some(key)
    }

    /// A receive takes a message whose arrived pieces have all been copied out of their slots.
    pub(super) fn take_pieces(&mut self, key: usize, into: Part, send: Option<u64>) {
        let receive = &mut self.receives[key];
        let (from, kept) = (receive.envelope.peer(), receive.kept.take().unwrap_or_default());
        receive.into = into;
        let fits = receive.bytes == into.len;
        if fits {
            let come = Part::new(into.at, kept.len());
            self.memory[come.range()].copy_from_slice(&kept);
        } else {
            receive.state = Taking::OtherLength;
            let Lane { coming, carried, .. } = &mut self.lanes[from];
            let all = [coming, carried].into_iter().flatten();
            all.filter(|of| of.receive == Some(key)).for_each(|of| of.receive = None);
        }
        if let Some(send) = send {
            self.answer(from, send, key, fits);
        }
    }

    /// Tells the sender of a message whether its receiver wants the bytes.
    fn answer(&mut self, peer: Rank, send: u64, receive: usize, wanted: bool) {
        let words = [send, receive as Word, wanted.into()];
        self.tell_later(peer, Message::new(HandlerOffset::Answer.after(self.first), words));
    }

    /// Queues a copy out of a slot, for a receive if one wants the bytes.
    fn copy_later(&mut self, from: Rank, slot: u16, bytes: usize, receive: Option<usize>) {
        let into = receive.map(|key| (key, self.receives[key].expect(bytes)));
        if slot == CARRIED {
            let before = self.lanes[from].carried.replace(Coming { receive, left: bytes });
            if let Some(Coming { left, .. }) = before {
                self.garbage(from, format!("a message before {left} bytes of the one before it"));
            }
            return;
        }
        self.copies.push_back(CopyOut { from, slot, bytes, into });
        self.attention = true;
    }

    /// Memory for the bytes that the last request from `from` carries, as [`crate::Deliver::room`].
    pub(super) fn room(&mut self, from: Rank, done: usize) -> Option<&mut [u8]> {
        if done == AHEAD {
            let Waited { message, into, .. } = self.waited;
            let likely = message?.peer() == from && into.len > inline::INLINE;
            return into.of_mut(&mut self.memory).ok().filter(|_| likely);
        }
        let carried = &mut self.lanes.get_mut(from)?.carried;
        let Coming { receive, left: bytes } = (*carried)?;
        let receive = receive.and_then(|key| self.receives.get_mut(key));
        if done == bytes {
            *carried = None;
            if let Some(receive) = receive {
                receive.add(bytes);
            }
            return Some(&mut []);
        }
        let room = match receive {
            Some(receive) => {
                let part = Part::new(receive.into.at + receive.told - bytes, bytes);
                receive.room(part, &mut self.memory).ok()?
            }
            None => {
                self.scrap.resize(bytes, 0);
                &mut self.scrap[..]
            }
        };
        room.get_mut(done..)
    }

    /// Takes the announcement of a message that is still at its sender.
    pub(super) fn announced(&mut self, envelope: Envelope, bytes: u64, send: u64, at: Word) {
        let Ok(bytes) = usize::try_from(bytes) else {
            let what = format!("a message of {bytes} bytes, more than fits into memory");
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

    /// A receive takes a message that is still at its sender. It answers now, or, if it can read
    /// the bytes from the sender's memory, after it has read them.
    pub(super) fn take_announced(&mut self, key: usize, bytes: usize, send: u64, at: Word) {
        let receive = &mut self.receives[key];
        if at != 0 && bytes > 0 && bytes >= self.least {
            receive.arrived(bytes, Taking::Reading { send, at });
            if receive.state != Taking::OtherLength {
                self.reads.push_back(key);
                self.attention = true;
                return;
            }
        }
        receive.arrived(bytes, if bytes == 0 { Taking::Done } else { Taking::Coming });
        let (peer, wanted) = (receive.envelope.peer(), receive.state == Taking::Coming);
        self.answer(peer, send, key, wanted);
    }

    /// Takes a peer's answer to an announcement: it wants the bytes (`wanted`), or does not need
    /// them.
    pub(super) fn answered(&mut self, from: Rank, send: u64, receive: u64, wanted: bool) {
        let key = usize::try_from(send).unwrap_or(usize::MAX);
        let known = self
            .sends
            .get_mut(key)
            .filter(|send| send.envelope.peer() == from && send.state == Giving::Announced);
        let Some(entry) = known else {
            let what = format!("an answer to send {send}, which was not announced to it");
            return self.garbage(from, what);
        };
        let is_ahead = entry.stored < entry.ahead;
        entry.state = match (wanted, is_ahead) {
            (true, _) => Giving::Cleared { receive },
            (false, true) => Giving::Refused,
            (false, false) => Giving::Done,
        };
        if wanted && !is_ahead {
            self.lanes[from].cleared.push_back(key);
            self.activate(from);
        }
    }

    /// Takes a piece of a message that a receive has taken.
    pub(super) fn piece(&mut self, from: Rank, receive: u64, bytes: u64, slot: u64) {
        let most = self.layout.most(self.layout.chunk);
        let Some((bytes, slot)) = self.occupy(from, bytes, slot, most) else { return };
        let key = usize::try_from(receive).unwrap_or(usize::MAX);
        let known = self.receives.get(key).filter(|receive| {
            let is_from = receive.envelope.peer() == from && receive.kept.is_none();
            is_from && receive.state == Taking::Coming
        });
        let Some(entry) = known else {
            let what = format!("{bytes} bytes for receive {receive}, which does not expect any");
            return self.garbage(from, what);
        };
        if bytes == 0 || bytes > entry.bytes - entry.told {
            let left = entry.bytes - entry.told;
            let what = format!("a piece of {bytes} bytes of a message with {left} bytes left");
            return self.garbage(from, what);
        }
        self.copy_later(from, slot, bytes, Some(key));
    }

    /// Notes that a peer filled a slot with `bytes` bytes, at most `most`. Returns the number of bytes and the
    /// slot, if it was valid.
    fn occupy(&mut self, from: Rank, bytes: u64, slot: u64, most: usize) -> Option<(usize, u16)> {
        if bytes > most as u64 {
            self.garbage(from, format!("{bytes} bytes in a slot (limit {most})"));
            return None;
        }
        if slot == Word::from(CARRIED) && self.layout.slots == 0 {
            return Some((bytes as usize, CARRIED));
        }
        self.occupied(from, slot).map(|slot| (bytes as usize, slot))
    }

    /// Notes that a peer filled a slot. Returns the slot if the peer had it.
    #[inline]
    pub(super) fn occupied(&mut self, from: Rank, slot: Word) -> Option<u16> {
        let filled = self.lanes[from].slots.fill(slot);
        if filled.is_none() {
            self.garbage(from, format!("bytes in slot {slot}, which it does not have"));
        }
        filled
    }

    /// Takes slots back from a peer.
    pub(super) fn returned(&mut self, from: Rank, slots: Word) {
        let lane = &mut self.lanes[from];
        if let Err(slot) = lane.slots.take_back(slots) {
            return self.garbage(from, format!("slot {slot} given back, which it does not have"));
        }
        if lane.listed && slots != 0 {
            self.attention = true;
        }
    }

    /// Notes that something waits to be sent to `peer`.
    pub(super) fn activate(&mut self, peer: Rank) {
        if !std::mem::replace(&mut self.lanes[peer].listed, true) {
            self.active.push(peer);
        }
        self.attention = true;
    }

    /// Index of the oldest arrival with this sender and tag.
    pub(super) fn find_arrival(&self, envelope: Envelope) -> Option<usize> {
        self.arrivals.iter().position(|arrival| arrival.envelope == envelope)
    }
}

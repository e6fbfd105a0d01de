//! Sends what waits in a lane.

use std::ops::Range;

use slab::Slab;

use super::entries::{Giving, Send};
use super::handlers::HandlerOffset;
use super::inline;
use super::lane::{Lane, Storing};
use super::mail::Mail;
use super::slots::CARRIED;
use super::tuning::{Layout, SlotAddress};
use super::words::header;
use crate::{Bulk, CommError, Endpoint, HandlerId, Message, Posted, Rank, Result, Source, Word};

/// What a lane can do next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing waits.
    Idle,
    /// The next piece needs a slot, which the peer will return.
    Slot,
    /// Something may find room at any time.
    More,
}

/// What a lane needs in order to send.
pub(super) struct Outgoing<'a, E> {
    pub(super) endpoint: &'a mut E,
    pub(super) peer: Rank,
    pub(super) rank: Rank,
    pub(super) sends: &'a mut Slab<Send>,
    pub(super) memory: &'a [u8],
    pub(super) layout: &'a Layout,
    pub(super) first: HandlerId,
}

/// A message in words: in two words if they are enough, so that a transport carries less.
#[inline(always)]
pub(super) fn in_words(handler: HandlerId, tag: u32, bytes: &[u8]) -> Message {
    let header = header(tag, bytes.len());
    if bytes.len() <= 8 {
        Message::new(handler, [header, inline::pack_word(bytes)])
    } else {
        let [a, b, c] = inline::pack(bytes);
        Message::new(handler, [header, a, b, c])
    }
}

impl Mail {
    /// Sends a request of message passing to `peer`, ahead of messages.
    #[inline(always)]
    pub(super) fn tell<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        peer: Rank,
        message: Message,
    ) -> Result<()> {
        // A listed lane may be in the middle of a store.
        if self.lanes[peer].listed || endpoint.try_request(peer, message)? == Posted::Busy {
            self.tell_later(peer, message);
        }
        Ok(())
    }

    /// As [`Mail::tell`], but leaves the sending to the next call that makes progress.
    #[inline(never)]
    pub(super) fn tell_later(&mut self, peer: Rank, message: Message) {
        self.lanes[peer].control.push_back(message);
        self.activate(peer);
    }
}

impl<E: Bulk> Outgoing<'_, E> {
    /// Sends a request. Returns whether there was room.
    fn request(&mut self, message: Message) -> Result<bool> {
        Ok(self.endpoint.try_request(self.peer, message)? == Posted::Yes)
    }
}

impl Lane {
    /// Sends what finds room, but of a message in several pieces only one. Adds to `moved`.
    pub(super) fn push<E: Bulk>(
        &mut self,
        out: &mut Outgoing<'_, E>,
        moved: &mut usize,
    ) -> Result<Next> {
        if self.storing.is_some() && !self.store(out, moved)? {
            return Ok(Next::More);
        }
        while let Some(&message) = self.control.front() {
            if !out.request(message)? {
                return Ok(Next::More);
            }
            self.control.pop_front();
            *moved += 1;
        }
        while let Some(&key) = self.queued.front() {
            let send = &out.sends[key];
            if send.ahead == 0 {
                if !self.introduce(out, key)? {
                    return Ok(Next::More);
                }
                self.queued.pop_front();
                *moved += 1;
                continue;
            }
            let (tag, len, ahead) = (Word::from(send.envelope.tag()), send.from.len, send.ahead);
            let piece = send.stored..ahead.min(send.stored + send.piece);
            let Some(slot) = self.slots.for_piece() else { return Ok(Next::Slot) };
            let notice = if piece == (0..len) {
                self.notice(slot, (HandlerOffset::Slot.after(out.first), tag), len)
            } else if piece.start == 0 {
                let words = [tag | (key as Word) << 32, len as Word, slot.into()];
                let [header, bytes, slot] = words;
                Message::new(
                    HandlerOffset::First.after(out.first),
                    [header, bytes, slot, self.slots.give_back()],
                )
            } else {
                self.notice(slot, (HandlerOffset::Next.after(out.first), 0), piece.len())
            };
            let is_last = piece.end == ahead;
            if is_last {
                self.queued.pop_front();
            }
            if !self.begin(out, slot, key, piece, notice, moved)? || !is_last {
                return Ok(Next::More);
            }
        }
        if let Some(&key) = self.cleared.front() {
            let Some(slot) = self.slots.for_piece() else { return Ok(Next::Slot) };
            let send = &out.sends[key];
            let Giving::Cleared { receive } = send.state else { return Err(CommError::Stopped) };
            let piece = send.stored..send.from.len.min(send.stored + out.layout.most(send.piece));
            if piece.end == send.from.len {
                self.cleared.pop_front();
            }
            let header = Word::from(receive as u32);
            let notice =
                self.notice(slot, (HandlerOffset::Piece.after(out.first), header), piece.len());
            if !self.begin(out, slot, key, piece, notice, moved)? {
                return Ok(Next::More);
            }
        }
        if self.is_idle() {
            Ok(Next::Idle)
        } else if self.slots.has_free() || self.slots.are_none() {
            Ok(Next::More)
        } else {
            Ok(Next::Slot)
        }
    }

    /// Sends a message in words, or announces one, if there is room.
    fn introduce<E: Bulk>(&self, out: &mut Outgoing<'_, E>, key: usize) -> Result<bool> {
        let send = &out.sends[key];
        let (tag, bytes) = (send.envelope.tag(), send.from.of(out.memory)?);
        let (message, state) = if bytes.len() <= inline::INLINE {
            (in_words(HandlerOffset::Words.after(out.first), tag, bytes), Giving::Done)
        } else {
            let at = out.endpoint.address(bytes);
            let words = [Word::from(tag), bytes.len() as Word, key as Word, at];
            (Message::new(HandlerOffset::Announce.after(out.first), words), Giving::Announced)
        };
        let sent = out.request(message)?;
        if sent {
            out.sends[key].state = state;
        }
        Ok(sent)
    }

    /// Begins to store a piece of a message in a slot. Returns whether the store has ended.
    fn begin<E: Bulk>(
        &mut self,
        out: &mut Outgoing<'_, E>,
        slot: u16,
        send: usize,
        bytes: Range<usize>,
        notice: Message,
        moved: &mut usize,
    ) -> Result<bool> {
        let into = (slot != CARRIED).then(|| out.layout.place(out.rank, out.peer, slot));
        let storing = Storing::new(into, bytes, notice);
        self.storing = Some(Storing { send, ..storing });
        // The answer to a first piece may come before the piece has gone.
        let send = &mut out.sends[send];
        if send.state == Giving::Queued && send.ahead < send.from.len {
            send.state = Giving::Announced;
        }
        self.store(out, moved)
    }

    /// The request that announces `bytes` bytes in a slot. It also gives slots back.
    #[inline]
    pub(super) fn notice(
        &mut self,
        slot: u16,
        (handler, header): (HandlerId, Word),
        bytes: usize,
    ) -> Message {
        let header = header | (bytes as Word) << 32;
        Message::new(handler, [header, slot.into(), self.slots.give_back()])
    }

    /// Continues the store that was begun. Returns whether it has ended.
    fn store<E: Bulk>(&mut self, out: &mut Outgoing<'_, E>, moved: &mut usize) -> Result<bool> {
        let Some(storing) = &mut self.storing else { return Ok(true) };
        let send = &out.sends[storing.send];
        let bytes =
            send.from.of(out.memory)?.get(storing.bytes.clone()).ok_or(CommError::Stopped)?;
        let before = storing.done;
        if !storing.move_on(out.endpoint, out.peer, bytes)? {
            *moved += usize::from(storing.done > before);
            return Ok(false);
        }
        let key = storing.send;
        let send = &mut out.sends[key];
        send.stored = storing.bytes.end;
        let is_next = send.stored == send.ahead;
        send.state = match send.state {
            _ if send.stored == send.from.len => Giving::Done,
            Giving::Refused if is_next => Giving::Done,
            state => state,
        };
        if is_next && matches!(send.state, Giving::Cleared { .. }) {
            self.cleared.push_back(key);
        }
        self.storing = None;
        *moved += 1;
        Ok(true)
    }
}

impl Storing {
    /// A store of some bytes of a message that has not yet begun.
    #[inline]
    pub(super) fn new(into: Option<SlotAddress>, bytes: Range<usize>, notice: Message) -> Self {
        Self { send: usize::MAX, bytes, into, done: 0, notice }
    }

    /// Continues the store of `bytes`. Returns whether it has ended.
    #[inline]
    pub(super) fn move_on<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        peer: Rank,
        bytes: &[u8],
    ) -> Result<bool> {
        let posted = match self.into {
            None => endpoint.try_carry(peer, self.notice, bytes, &mut self.done)?,
            Some(SlotAddress { own: true, at }) => {
                if self.done < bytes.len() {
                    endpoint.write_exposed(at, bytes)?;
                    self.done = bytes.len();
                }
                endpoint.try_request(peer, self.notice)?
            }
            Some(SlotAddress { own: false, at }) => {
                let from = Source::Bytes(bytes);
                endpoint.try_store_then(peer, at, from, &mut self.done, self.notice)?
            }
        };
        Ok(posted == Posted::Yes)
    }
}

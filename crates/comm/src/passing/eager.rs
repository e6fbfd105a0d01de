//! The fast path of messages in slots, which bypasses queues and entries if nothing else is in
//! progress.

use super::engine::copy_out;
use super::entries::{Envelope, Giving, Send};
use super::handlers::HandlerOffset;
use super::lane::Storing;
use super::mail::Mail;
use super::tuning::SlotAddress;
use super::words::header;
use super::{HoldsMail, INLINE, Passing};
use crate::active::Expected;
use crate::{Bulk, Message, Part, Posted, Rank, Result, Source, Watch};

/// Outcome of an attempt to send a message in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InSlot {
    /// It must use the queues: it is too short or too long for one slot, no slot is free, or
    /// something is ahead of it.
    NotNow,
    /// It was begun, and is the send with this key.
    Begun(usize),
    /// It was sent; its part may change.
    Done,
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Sends a message in a slot, if nothing is ahead of it and a slot is free.
    pub(super) fn send_in_slot(&mut self, peer: Rank, tag: u32, from: Part) -> Result<InSlot> {
        let (endpoint, state) = self.am.parts();
        let mail = state.mail_mut();
        let Mail { lanes, layout, least, first, rank, active, sends, memory, .. } = &mut *mail;
        let bytes = from.of(memory)?;
        let len = bytes.len();
        // If there is no such peer, the queues return the error.
        let Some(lane) = lanes.get_mut(peer) else { return Ok(InSlot::NotNow) };
        let for_slot = peer != *rank && len > INLINE && layout.is_one_piece(len) && len < *least;
        if !for_slot || !active.is_empty() {
            return Ok(InSlot::NotNow);
        }
        let Some(slot) = lane.slots.take() else { return Ok(InSlot::NotNow) };
        let SlotAddress { own, at } = layout.place(*rank, peer, slot);
        let words = [header(tag, len), slot.into(), lane.slots.give_back()];
        let notice = Message::new(HandlerOffset::Slot.after(*first), words);
        let mut done = 0;
        let posted = if own {
            endpoint.write_exposed(at, bytes)?;
            done = len;
            endpoint.try_request(peer, notice)?
        } else {
            endpoint.try_store_then(peer, at, Source::Bytes(bytes), &mut done, notice)?
        };
        if posted == Posted::Yes {
            return Ok(InSlot::Done);
        }
        let into = Some(SlotAddress { own, at });
        let mut storing = Storing { done, ..Storing::new(into, 0..len, notice) };
        let envelope = Envelope::new(peer, tag);
        let send =
            Send { envelope, from, piece: len, ahead: len, stored: 0, state: Giving::Queued };
        let key = sends.insert(send);
        storing.send = key;
        lane.storing = Some(storing);
        mail.activate(peer);
        Ok(InSlot::Begun(key))
    }

    /// Waits for a message too long for words, and copies it out if it is in a slot.
    #[inline(never)]
    pub(super) fn recv_long(&mut self, envelope: Envelope, into: Part) -> Result<()> {
        let mail = self.am.state().mail();
        let (peer, rank) = (envelope.peer(), mail.rank);
        let likely = mail.lanes[peer].slots.given;
        let handler = HandlerOffset::Slot.after(mail.first);
        let mut expected = match mail.layout.is_one_piece(into.len) {
            true => Expected::new::<3>(peer, handler, header(envelope.tag(), into.len)),
            false => Expected::none(),
        };
        let place = mail.layout.place(rank, peer, likely);
        self.turns_for_waited(&mut expected)?;
        if !expected.came {
            return self.recv_aside();
        }
        let (endpoint, state) = self.am.parts();
        let mail = state.mail_mut();
        let [slot, slots, _] = expected.rest;
        if slots != 0 {
            mail.returned(peer, slots);
        }
        let Some(slot) = mail.occupied(peer, slot) else { return self.recv_aside() };
        // If the slot is the expected one, the processor can read it before it knows the slot's
        // number.
        let place = if slot == likely { place } else { mail.layout.place(rank, peer, slot) };
        copy_out(endpoint, peer, place, into.of_mut(&mut mail.memory)?)?;
        if let Some(message) = mail.emptied(peer, slot) {
            mail.tell(endpoint, peer, message)?;
        }
        Ok(())
    }
}

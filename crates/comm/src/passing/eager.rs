//! Messages in slots where nothing else is under way: past queues and entries.

use super::engine::copy_out;
use super::entries::{Giving, Send};
use super::handlers::Kind;
use super::lane::Storing;
use super::mail::Mail;
use super::matching::Envelope;
use super::{HoldsMail, INLINE, Passing};
use crate::{Bulk, CommError, Part, Rank, Watch, Word};

/// What came of an attempt to send a message in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InSlot {
    /// It must go through the queues: it is too short or too long for a slot, there is no slot, or
    /// something is before it.
    NotNow,
    /// It was begun, and is now this send.
    Begun(usize),
    /// Its part may change.
    Done,
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Sends a message in a slot if nothing is before it and there is one.
    pub(super) fn send_in_slot(
        &mut self,
        peer: Rank,
        tag: u32,
        from: Part,
    ) -> Result<InSlot, CommError> {
        let bytes = from.of(&self.memory)?;
        let (endpoint, state) = self.am.parts();
        let mail = state.mail_mut();
        let Mail { lanes, layout, least, first, rank, active, sends, .. } = &mut *mail;
        let len = bytes.len();
        // The queues answer that there is no such peer.
        let Some(lane) = lanes.get_mut(peer) else { return Ok(InSlot::NotNow) };
        let for_slot = peer != *rank && len > INLINE && len <= layout.eager && len < *least;
        if !for_slot || !active.is_empty() {
            return Ok(InSlot::NotNow);
        }
        let Some(slot) = lane.slots.take() else { return Ok(InSlot::NotNow) };
        let kind = (Kind::Slot.after(*first), Word::from(tag));
        let notice = lane.notice(slot, kind, len);
        let mut storing = Storing::new(layout.place(*rank, peer, slot), 0..len, notice);
        if storing.move_on(endpoint, peer, bytes)? {
            return Ok(InSlot::Done);
        }
        let envelope = Envelope::new(peer, tag);
        let send = Send { envelope, from, state: Giving::Queued };
        let key = sends.insert(send);
        storing.send = key;
        lane.storing = Some(storing);
        mail.activate(peer);
        Ok(InSlot::Begun(key))
    }

    /// Copies the message that was waited for out of its slot.
    pub(super) fn recv_from_slot(
        &mut self,
        from: Rank,
        slot: u16,
        into: Part,
    ) -> Result<(), CommError> {
        let (endpoint, state) = self.am.parts();
        let mail = state.mail_mut();
        let into = into.of_mut(&mut self.memory)?;
        copy_out(endpoint, from, mail.layout.place(mail.rank, from, slot), into)?;
        if let Some(message) = mail.emptied(from, slot) {
            mail.tell(endpoint, from, message)?;
        }
        Ok(())
    }
}

impl Mail {
    /// Leaves a message in its slot if the rank waits for it and no slot is to be emptied before.
    /// Says whether it did.
    #[inline]
    pub(super) fn wait_ends_in_slot(
        &mut self,
        envelope: Envelope,
        bytes: usize,
        slot: u16,
    ) -> bool {
        let waited = &mut self.waited;
        let fits = waited.message.is(envelope) && bytes == waited.into.len;
        let ends = fits && self.copies.is_empty();
        if ends {
            waited.message.take_aside();
            waited.slot = Some(slot);
        }
        ends
    }
}

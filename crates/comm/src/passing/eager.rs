//! Messages in slots where nothing else is under way: past queues and entries.

use super::entries::{Giving, Memory, Send};
use super::handlers::Kind;
use super::lane::Lane;
use super::mail::Mail;
use super::matching::{Envelope, Status};
use super::{HoldsMail, INLINE, Passing};
use crate::{Bulk, CommError, Posted, Rank, Watch, Word};

/// What came of an attempt to send a message in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InSlot {
    /// It is for the queues: it is short or long, or something is before it.
    NotNow,
    /// It was begun, and is now this send.
    Begun(usize),
    /// Its bytes may change.
    Done,
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Sends a message in a slot if nothing is before it and there is one.
    pub(super) fn send_in_slot(
        &mut self,
        peer: Rank,
        tag: u32,
        bytes: &[u8],
    ) -> Result<InSlot, CommError> {
        let (endpoint, state) = self.am.parts();
        let mail = state.mail_mut();
        let Mail { lanes, layout, first, rank, active, sends, .. } = &mut *mail;
        let len = bytes.len();
        // That there is no such peer is found where sends are queued.
        let Some(lane) = lanes.get_mut(peer) else { return Ok(InSlot::NotNow) };
        let for_slot = peer != *rank && len > INLINE && len <= layout.eager;
        if !for_slot || !active.is_empty() || !lane.has_slot(layout) {
            return Ok(InSlot::NotNow);
        }
        let kind = (first.of(Kind::Slot), Word::from(tag));
        let mut storing = lane.take_slot(layout, *rank, kind, 0..len);
        if storing.move_on(endpoint, peer, bytes)? {
            return Ok(InSlot::Done);
        }
        let envelope = Envelope::new(peer, tag);
        let send = Send { envelope, memory: Memory::Lent(len), state: Giving::Queued };
        let key = sends.insert(send);
        storing.send = key;
        lane.storing = Some(storing);
        mail.activate(peer);
        Ok(InSlot::Begun(key))
    }

    /// Copies the message that was waited for out of its slot.
    pub(super) fn recv_from_slot(
        &mut self,
        slot: u64,
        into: &mut [u8],
    ) -> Result<Status, CommError> {
        let (endpoint, state) = self.am.parts();
        let mail = state.mail_mut();
        let (envelope, bytes) = (mail.waited.envelope, mail.waited.bytes);
        let from = envelope.from();
        let target = into.get_mut(..bytes).ok_or(CommError::Stopped)?;
        endpoint.read_exposed(mail.layout.offset(from, slot), target)?;
        if let Some(message) = mail.emptied(from) {
            // A lane toward which something waits may be in the middle of a store.
            if mail.lanes[from].listed || endpoint.try_request(from, message)? == Posted::Busy {
                mail.lanes[from].control.push_back(message);
                mail.activate(from);
            }
        }
        Ok(envelope.status(bytes))
    }
}

impl Mail {
    /// A message in a slot: leaves it there for the rank, and says so, if the rank waits for it, in
    /// which case no other receive is posted, and no slot is to be emptied before.
    #[inline]
    pub(super) fn wait_ends_in_slot(
        &mut self,
        envelope: Envelope,
        bytes: usize,
        slot: u64,
    ) -> bool {
        let waited = &mut self.waited;
        let ends = waited.filter.takes(envelope) && bytes <= waited.room && self.work.is_empty();
        if ends {
            waited.filter.close_aside();
            (waited.envelope, waited.bytes, waited.slot) = (envelope, bytes, Some(slot));
        }
        ends
    }
}

impl Lane {
    /// Slots that were copied out and not given back, which they are now.
    #[inline]
    pub(super) fn give_back(&mut self) -> u64 {
        let slots = self.emptied - self.given_back;
        self.given_back = self.emptied;
        slots
    }
}

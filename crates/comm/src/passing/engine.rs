//! Does the work with the endpoint that handlers and calls have left.

use super::entries::{CopyOut, Taking};
use super::handlers::HandlerOffset;
use super::mail::Mail;
use super::outgoing::{Next, Outgoing};
use super::tuning::SlotAddress;
use crate::{Bulk, CommError, Message, Rank, Result, Word};

/// Bytes that one read takes from a peer's memory: many compared with the cost of a call, few
/// enough for other messages to get their turns.
const READ_AT_ONCE: usize = 1 << 20;

impl Mail {
    /// Makes progress: at most one copy out of a slot, one read of a part of a message, and one
    /// piece to each peer, so that both directions and all peers take turns. Returns the number of
    /// things done.
    #[inline(never)]
    pub(super) fn advance<E: Bulk>(&mut self, endpoint: &mut E) -> Result<usize> {
        if let Some((peer, what)) = &self.fault {
            return Err(CommError::Garbage { peer: *peer, what: what.clone() });
        }
        let mut moved = usize::from(self.copy_next(endpoint)?);
        moved += usize::from(self.read_next(endpoint)?);
        let mut more = !self.copies.is_empty() || !self.reads.is_empty();
        let mut index = 0;
        while let Some(&peer) = self.active.get(index) {
            let Self { lanes, sends, memory, layout, first, rank, .. } = self;
            let (rank, first) = (*rank, *first);
            let mut out = Outgoing { endpoint, peer, rank, sends, memory, layout, first };
            let next = lanes[peer].push(&mut out, &mut moved)?;
            more |= next == Next::More;
            if next == Next::Idle {
                self.lanes[peer].listed = false;
                self.active.swap_remove(index);
            } else {
                index += 1;
            }
        }
        self.attention = more;
        Ok(moved)
    }

    /// Empties the next slot. Returns whether there was one.
    pub(super) fn copy_next<E: Bulk>(&mut self, endpoint: &mut E) -> Result<bool> {
        let Some(CopyOut { from, slot, bytes, into }) = self.copies.pop_front() else {
            return Ok(false);
        };
        let place = self.layout.place(self.rank, from, slot);
        if let Some((key, part)) = into {
            let receive = &mut self.receives[key];
            copy_out(endpoint, from, place, receive.room(part, &mut self.memory)?)?;
            receive.add(bytes);
        }
        if let Some(message) = self.emptied(from, slot) {
            self.tell_later(from, message);
        }
        Ok(true)
    }

    /// Reads part of the next message that must be read from its sender's memory. Returns whether
    /// there was one. Receives take turns.
    fn read_next<E: Bulk>(&mut self, endpoint: &mut E) -> Result<bool> {
        let Some(key) = self.reads.pop_front() else { return Ok(false) };
        let receive = &mut self.receives[key];
        let Taking::Reading { send, at } = receive.state else {
            return Err(CommError::Stopped);
        };
        let peer = receive.envelope.peer();
        let part = receive.expect((receive.bytes - receive.told).min(READ_AT_ONCE));
        let at = at.wrapping_add(receive.copied as Word);
        endpoint.read_private(peer, at, part.of_mut(&mut self.memory)?)?;
        receive.copied = receive.told;
        if receive.copied < receive.bytes {
            self.reads.push_back(key);
            return Ok(true);
        }
        receive.state = Taking::Done;
        let handler = HandlerOffset::Answer.after(self.first);
        self.tell(endpoint, peer, Message::new(handler, [send, key as Word, 0]))?;
        Ok(true)
    }

    /// Notes that a slot from `from` was copied out. Returns a request that gives slots back if one
    /// is due; messages to `from` give slots back too.
    #[inline(always)]
    pub(super) fn emptied(&mut self, from: Rank, slot: u16) -> Option<Message> {
        let lane = &mut self.lanes[from];
        lane.slots.empty(slot);
        if lane.listed {
            // A message to `from` that waits for a slot can have this one.
            self.attention |= lane.slots.has_free();
        }
        if lane.slots.is_due() { Some(self.giving_back(from)) } else { None }
    }

    #[inline(never)]
    fn giving_back(&mut self, to: Rank) -> Message {
        let handler = HandlerOffset::Return.after(self.first);
        Message::new(handler, [self.lanes[to].slots.give_back()])
    }
}

/// Copies the bytes in a slot between this rank and `peer`.
#[inline]
pub(super) fn copy_out<E: Bulk>(
    endpoint: &E,
    peer: Rank,
    SlotAddress { own, at }: SlotAddress,
    into: &mut [u8],
) -> Result<()> {
    if own { endpoint.read_exposed(at, into) } else { endpoint.read_peer(peer, at, into) }
}

//! Does with the endpoint what handlers and calls have left to do.

use super::entries::{Body, CopyOut, Into, Taking};
use super::handlers::Kind;
use super::mail::Mail;
use super::outgoing::{Next, Outgoing};
use crate::{Bulk, CommError, Message, Rank};

impl Mail {
    /// Moves on what can be moved: at most one copy out of a slot, and one piece to each peer, so
    /// that both directions and all peers take turns. Returns how much was done.
    #[inline(never)]
    pub(super) fn advance<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        memory: &mut [u8],
    ) -> Result<usize, CommError> {
        if let Some((peer, what)) = &self.fault {
            return Err(CommError::Garbage { peer: *peer, what: what.clone() });
        }
        let mut moved = usize::from(self.copy_next(endpoint, memory)?);
        let mut more = !self.copies.is_empty();
        let mut index = 0;
        while let Some(&peer) = self.active.get(index) {
            let Self { lanes, sends, layout, first, rank, .. } = self;
            let mut out =
                Outgoing { endpoint, peer, rank: *rank, sends, memory, layout, first: *first };
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

    /// Empties the next slot, and says whether there was one.
    pub(super) fn copy_next<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        memory: &mut [u8],
    ) -> Result<bool, CommError> {
        let Some(CopyOut { from, slot, bytes, into }) = self.copies.pop_front() else {
            return Ok(false);
        };
        let offset = self.layout.offset(from, slot);
        match into {
            Into::Receive { receive, part } => {
                let receive = &mut self.receives[receive];
                endpoint.read_exposed(offset, part.of_mut(memory)?)?;
                receive.copied += bytes;
                if receive.copied == receive.bytes {
                    receive.state = Taking::Done;
                }
            }
            Into::Arrival { index } => {
                let mut kept = vec![0; bytes];
                endpoint.read_exposed(offset, &mut kept)?;
                self.arrivals[index].body = Body::Bytes(kept);
            }
            Into::Nowhere => {}
        }
        if let Some(message) = self.emptied(from) {
            self.tell_later(from, message);
        }
        Ok(true)
    }

    /// A slot of `from` was copied out. Returns the request that gives it back with others, if it
    /// is time for one: messages to `from` give slots back too.
    #[inline]
    pub(super) fn emptied(&mut self, from: Rank) -> Option<Message> {
        let (batch, handler) = (self.layout.batch(), Kind::Return.after(self.first));
        let lane = &mut self.lanes[from];
        lane.emptied += 1;
        let due = lane.emptied - lane.given_back >= batch;
        due.then(|| Message::new(handler, [lane.give_back()]))
    }
}

//! Does with the endpoint what handlers and callers left to be done.

use super::entries::{Body, Into, Lent, Taking, Work};
use super::handlers::Kind;
use super::mail::Mail;
use super::outgoing::{Next, Outgoing};
use crate::{Bulk, CommError, Message, Rank, Word};

impl Mail {
    /// Moves on what can be moved: at most one copy out of a slot, and one piece toward each peer,
    /// so that both directions and all peers take turns. Returns how much was done.
    #[inline(never)]
    pub(super) fn advance<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        lent: &mut Lent<'_>,
    ) -> Result<usize, CommError> {
        if let Some((peer, what)) = &self.fault {
            return Err(CommError::Garbage { peer: *peer, what: what.clone() });
        }
        let mut moved = usize::from(self.do_work(endpoint, lent)?);
        let mut more = !self.work.is_empty();
        let mut index = 0;
        while let Some(&peer) = self.active.get(index) {
            let Self { lanes, sends, layout, first, rank, .. } = self;
            let mut out =
                Outgoing { endpoint, peer, rank: *rank, sends, lent, layout, first: *first };
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

    /// Does all that handlers left: every arrival has its bytes then.
    pub(super) fn drain<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        lent: &mut Lent<'_>,
    ) -> Result<(), CommError> {
        while self.do_work(endpoint, lent)? {}
        Ok(())
    }

    /// Does one thing that handlers left, and says whether there was one.
    fn do_work<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        lent: &mut Lent<'_>,
    ) -> Result<bool, CommError> {
        match self.work.pop_front() {
            None => return Ok(false),
            Some(Work::Copy { from, slot, bytes, into }) => {
                self.copy(endpoint, self.layout.offset(from, slot), bytes, into, lent)?;
                if let Some(message) = self.emptied(from) {
                    self.lanes[from].control.push_back(message);
                    self.activate(from);
                }
            }
            Some(Work::Answer { receive }) => self.answer(endpoint, receive, lent)?,
        }
        Ok(true)
    }

    fn copy<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        offset: usize,
        bytes: usize,
        into: Into,
        lent: &mut Lent<'_>,
    ) -> Result<(), CommError> {
        match into {
            Into::Receive { receive, at } => {
                let receive = &mut self.receives[receive];
                let memory = receive.memory.room(lent);
                let target = memory.get_mut(at..at + bytes).ok_or(CommError::Stopped)?;
                endpoint.read_exposed(offset, target)?;
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
        Ok(())
    }

    /// A slot of `from` was copied out. Returns what gives it back, with others, unless messages to
    /// `from` may yet do so.
    #[inline]
    pub(super) fn emptied(&mut self, from: Rank) -> Option<Message> {
        let (batch, handler) = (self.layout.batch(), self.first.of(Kind::Return));
        let lane = &mut self.lanes[from];
        lane.emptied += 1;
        let due = lane.emptied - lane.given_back >= batch;
        due.then(|| Message::new(handler, [lane.give_back()]))
    }

    /// Answers an announcement that a receive has taken.
    fn answer<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        key: usize,
        lent: &mut Lent<'_>,
    ) -> Result<(), CommError> {
        let receive = &mut self.receives[key];
        let Taking::Announced { send, address } = receive.state else { return Ok(()) };
        let peer = receive.envelope.from();
        let room = receive.memory.room(lent);
        receive.state = match room.get_mut(..receive.bytes) {
            None => Taking::TooLong,
            Some(into) => {
                let done = into.is_empty() || endpoint.try_read_peer(peer, address, into)?;
                if done { Taking::Done } else { Taking::Coming }
            }
        };
        let wanted = Word::from(receive.state == Taking::Coming);
        let message = Message::new(self.first.of(Kind::Answer), [send, key as Word, wanted]);
        self.lanes[peer].control.push_back(message);
        self.activate(peer);
        Ok(())
    }
}

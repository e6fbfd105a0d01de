//! Does with the endpoint what handlers and calls have left to do.

use super::entries::{Body, Into, Taking, Work};
use super::handlers::Kind;
use super::mail::Mail;
use super::outgoing::{Next, Outgoing};
use crate::{Bulk, CommError, Message, Rank, Word};

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
        let mut moved = usize::from(self.do_work(endpoint, memory)?);
        let mut more = !self.work.is_empty();
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

    /// Does all that handlers left. Then every arrival has its bytes.
    pub(super) fn drain<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        memory: &mut [u8],
    ) -> Result<(), CommError> {
        while self.do_work(endpoint, memory)? {}
        Ok(())
    }

    /// Does one thing that handlers left, and says whether there was one.
    fn do_work<E: Bulk>(&mut self, endpoint: &mut E, memory: &mut [u8]) -> Result<bool, CommError> {
        match self.work.pop_front() {
            None => return Ok(false),
            Some(Work::Copy { from, slot, bytes, into }) => {
                self.copy(endpoint, self.layout.offset(from, slot), bytes, into, memory)?;
                if let Some(message) = self.emptied(from) {
                    self.lanes[from].control.push_back(message);
                    self.activate(from);
                }
            }
            Some(Work::Answer { receive }) => self.answer(endpoint, receive, memory)?,
        }
        Ok(true)
    }

    fn copy<E: Bulk>(
        &mut self,
        endpoint: &mut E,
        offset: usize,
        bytes: usize,
        into: Into,
        memory: &mut [u8],
    ) -> Result<(), CommError> {
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
        Ok(())
    }

    /// A slot of `from` was copied out. Returns the request that gives it back with others, if it
    /// is time for one: messages to `from` give slots back too.
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
        memory: &mut [u8],
    ) -> Result<(), CommError> {
        let receive = &mut self.receives[key];
        let Taking::Announced { send, address } = receive.state else { return Ok(()) };
        let peer = receive.envelope.peer();
        receive.state = if receive.bytes != receive.into.len {
            Taking::OtherLength
        } else {
            let into = receive.into.of_mut(memory)?;
            let done = into.is_empty() || endpoint.try_read_peer(peer, address, into)?;
            if done { Taking::Done } else { Taking::Coming }
        };
        let wanted = Word::from(receive.state == Taking::Coming);
        let message = Message::new(self.first.of(Kind::Answer), [send, key as Word, wanted]);
        self.lanes[peer].control.push_back(message);
        self.activate(peer);
        Ok(())
    }
}

//! What the calls of message passing are made of.

use super::entries::{Arrival, Body, Giving, Lent, Memory, Receive, Send, Taking, Work};
use super::matching::{Envelope, Filter, Status};
use super::{HoldsMail, Mail, Passing, inline};
use crate::{Bulk, CommError, Rank, Watch};

impl Mail {
    /// Whether nothing waits to be sent or copied.
    pub(super) fn has_settled(&self) -> bool {
        self.active.is_empty() && self.work.is_empty()
    }

    pub(super) fn has_sent(&self, key: usize) -> bool {
        self.sends.get(key).is_some_and(|send| send.state == Giving::Done)
    }

    pub(super) fn has_received(&self, key: usize) -> bool {
        self.receives.get(key).is_some_and(Receive::is_over)
    }
}

#[cold]
#[inline(never)]
fn too_long(envelope: Envelope, bytes: usize, room: usize) -> CommError {
    CommError::TooLong { from: envelope.from(), tag: envelope.tag(), bytes, room }
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    #[inline(always)]
    pub(super) fn filter(&self, from: Option<Rank>, tag: Option<u32>) -> Result<Filter, CommError> {
        match from {
            Some(peer) if peer >= self.size() || peer == self.rank() => {
                Err(CommError::NoSuchPeer { peer, size: self.size() })
            }
            _ => Ok(Filter::new(from, tag)),
        }
    }

    /// Handles what has arrived, and moves on what can be moved. Returns how much that was.
    #[inline(always)]
    pub(super) fn turn(&mut self, lent: &mut Lent<'_>) -> Result<usize, CommError> {
        let mut moved = self.am.poll()?;
        if self.mail().attention {
            moved += self.advance(lent)?;
        }
        Ok(moved)
    }

    fn advance(&mut self, lent: &mut Lent<'_>) -> Result<usize, CommError> {
        let (endpoint, state) = self.am.parts();
        state.mail_mut().advance(endpoint, lent)
    }

    /// Takes turns until `done` says so.
    #[inline(always)]
    pub(super) fn wait_until(
        &mut self,
        waiting_for: &'static str,
        lent: &mut Lent<'_>,
        mut done: impl FnMut(&Mail) -> bool,
    ) -> Result<(), CommError> {
        let mut idle = 0_u32;
        let mut since = None;
        while !done(self.mail()) {
            if self.turn(lent)? == 0 {
                idle = idle.wrapping_add(1);
                self.am.idle(idle, &mut since, waiting_for)?;
            } else {
                idle = 0;
                since = None;
            }
        }
        Ok(())
    }

    /// Waits for the message that the handlers look out for. A loop of its own: nothing is between
    /// a short message and its buffer.
    #[inline(always)]
    pub(super) fn recv_awaited(&mut self, into: &mut [u8]) -> Result<Status, CommError> {
        let mut idle = 0_u32;
        let mut since = None;
        loop {
            let mut moved = self.am.poll()?;
            // Before anything else is done: what lies in a slot comes first of all slots.
            let waited = &self.mail().waited;
            if waited.filter.is_closed() {
                if waited.filter.is_aside() {
                    return self.recv_aside(into);
                }
                let (envelope, bytes) = (waited.envelope, waited.bytes);
                let Some(into) = into.get_mut(..bytes) else {
                    return Err(too_long(envelope, bytes, into.len()));
                };
                inline::unpack(waited.words, into);
                return Ok(envelope.status(bytes));
            }
            if self.mail().attention {
                moved += self.advance(&mut Lent::receiving(into))?;
            }
            if moved > 0 {
                idle = 0;
                since = None;
            } else {
                idle = idle.wrapping_add(1);
                self.am.idle(idle, &mut since, "a message")?;
            }
        }
    }

    /// Takes, or waits for, the bytes of the message that was waited for, which are elsewhere.
    #[inline(never)]
    fn recv_aside(&mut self, into: &mut [u8]) -> Result<Status, CommError> {
        if let Some(slot) = self.mail_mut().waited.slot.take() {
            return self.recv_from_slot(slot, into);
        }
        let mut lent = Lent::receiving(into);
        // There is none where a fault ended the wait, as the next turn finds.
        let key = self.mail_mut().waited.receive.take().unwrap_or(usize::MAX);
        self.wait_until("the bytes of a message", &mut lent, |mail| mail.has_received(key))?;
        Ok(self.end_recv(key, into)?.1)
    }

    /// Receives where other receives are posted, or messages have arrived that none has taken.
    #[inline(never)]
    pub(super) fn recv_among_others(
        &mut self,
        filter: Filter,
        into: &mut [u8],
    ) -> Result<Status, CommError> {
        let mut lent = Lent::receiving(into);
        let key = self.begin_recv(filter, Memory::Lent(lent.recv.len()), &mut lent)?;
        self.wait_until("a message", &mut lent, |mail| mail.has_received(key))?;
        Ok(self.end_recv(key, into)?.1)
    }

    /// Takes a message that has arrived, or posts a receive.
    pub(super) fn begin_recv(
        &mut self,
        filter: Filter,
        memory: Memory,
        lent: &mut Lent<'_>,
    ) -> Result<usize, CommError> {
        let (endpoint, state) = self.am.parts();
        let mail = state.mail_mut();
        mail.drain(endpoint, lent)?;
        let mut receive = Receive::new(filter, memory);
        let arrival = mail.find_arrival(filter).and_then(|index| mail.arrivals.remove(index));
        let Some(Arrival { envelope, bytes, body }) = arrival else {
            let key = mail.receives.insert(receive);
            mail.posted.push_back(key);
            return Ok(key);
        };
        (receive.envelope, receive.bytes) = (envelope, bytes);
        let fits = bytes <= receive.memory.len();
        receive.state = match body {
            Body::Announced { send, address } => Taking::Announced { send, address },
            _ if !fits => Taking::TooLong,
            Body::Words(words) => Taking::Words(words),
            Body::Bytes(kept) => {
                let into = receive.memory.room(lent).get_mut(..bytes);
                into.ok_or(CommError::Stopped)?.copy_from_slice(&kept);
                Taking::Done
            }
        };
        let announced = matches!(receive.state, Taking::Announced { .. });
        let key = mail.receives.insert(receive);
        if announced {
            mail.work.push_back(Work::Answer { receive: key });
            mail.attention = true;
        }
        Ok(key)
    }

    /// Takes the message of a receive that is over; `lent` is what its caller lent.
    pub(super) fn end_recv(
        &mut self,
        key: usize,
        lent: &mut [u8],
    ) -> Result<(Vec<u8>, Status), CommError> {
        let mut receive = self.mail_mut().receives.remove(key);
        let (envelope, bytes) = (receive.envelope, receive.bytes);
        if receive.state == Taking::TooLong {
            return Err(too_long(envelope, bytes, receive.memory.len()));
        }
        if let Taking::Words(words) = receive.state {
            let mut lent = Lent::receiving(lent);
            let into = receive.memory.room(&mut lent).get_mut(..bytes);
            inline::unpack(words, into.ok_or(CommError::Stopped)?);
        }
        let memory = match receive.memory {
            Memory::Owned(memory) => memory,
            Memory::Lent(_) => Vec::new(),
        };
        Ok((memory, envelope.status(bytes)))
    }

    /// Puts a send behind those before it, and sends what finds room.
    pub(super) fn begin_send(
        &mut self,
        peer: Rank,
        tag: u32,
        memory: Memory,
        lent: &mut Lent<'_>,
    ) -> Result<usize, CommError> {
        self.filter(Some(peer), None)?;
        let mail = self.mail_mut();
        let envelope = Envelope::new(peer, tag);
        let key = mail.sends.insert(Send { envelope, memory, state: Giving::Queued });
        mail.lanes[peer].queued.push_back(key);
        mail.activate(peer);
        self.advance(lent)?;
        Ok(key)
    }
}

//! Steps that the calls of message passing consist of.

use super::entries::{Arrival, Body, Envelope, Giving, Receive, Send, Taking};
use super::tuning::Cut;
use super::{HoldsMail, Mail, Passing, inline};
use crate::active::Expected;
use crate::{ActiveMessages, Bulk, Part, Rank, Result, Watch, check_peer};

impl Mail {
    /// Whether nothing waits to be sent, copied or read.
    pub(super) fn has_settled(&self) -> bool {
        self.active.is_empty() && self.copies.is_empty() && self.reads.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.has_settled()
            && self.waited.message.is_none()
            && self.waited.receive.is_none()
            && self.posted.is_empty()
            && self.sends.is_empty()
            && self.receives.is_empty()
            && self.lanes.iter().all(|lane| {
                lane.is_idle()
                    && lane.carried.is_none()
                    && lane.coming.is_none()
                    && lane.slots.filled() == 0
            })
    }

    pub(super) fn has_sent(&self, key: usize) -> bool {
        self.sends.get(key).is_some_and(|send| send.state == Giving::Done)
    }

    pub(super) fn has_received(&self, key: usize) -> bool {
        self.receives.get(key).is_some_and(Receive::is_over)
    }
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    #[inline(always)]
    pub(super) fn envelope(&self, peer: Rank, tag: u32) -> Result<Envelope> {
        check_peer(peer, self.rank(), self.size())?;
        Ok(Envelope::new(peer, tag))
    }

    pub(super) fn advance(&mut self) -> Result<usize> {
        let (endpoint, state) = self.am.parts();
        state.mail_mut().advance(endpoint)
    }

    /// Polls and makes progress until `done` accepts the state.
    #[inline(always)]
    pub(super) fn wait_until(
        &mut self,
        waiting_for: &'static str,
        mut done: impl FnMut(&Mail) -> bool,
    ) -> Result<()> {
        self.turns(waiting_for, &mut Expected::none(), |_| false, |am| done(am.state().mail()))
    }

    /// Polls and makes progress until the awaited message has arrived: expected, or taken by the
    /// handlers.
    #[inline(always)]
    pub(super) fn turns_for_waited(&mut self, expected: &mut Expected) -> Result<()> {
        // A request that follows the message in the same turn, or came before it, is another
        // message.
        let take = |mail: &mut Mail| mail.waited.message.take().is_some();
        self.turns("a message", expected, take, |am| am.state().mail().waited.message.is_none())
    }

    /// Polls and makes progress until the expected request has come and `take` has taken it, or
    /// until `done` accepts the state before a turn.
    #[inline(always)]
    pub(super) fn turns(
        &mut self,
        waiting_for: &'static str,
        expected: &mut Expected,
        mut take: impl FnMut(&mut Mail) -> bool,
        mut done: impl FnMut(&ActiveMessages<E, S, W>) -> bool,
    ) -> Result<()> {
        let mut idle = 0_u32;
        let mut since = None;
        while !done(&self.am) {
            let mut moved = self.am.poll_for(expected, |state| take(state.mail_mut()))?;
            if expected.came {
                return Ok(());
            }
            if self.mail().attention {
                moved += self.advance()?;
            }
            if moved == 0 {
                idle = idle.wrapping_add(1);
                self.am.idle(idle, &mut since, waiting_for)?;
            } else {
                idle = 0;
                since = None;
            }
        }
        Ok(())
    }

    /// Waits for the bytes of the awaited message after the handlers have taken it.
    #[inline(never)]
    pub(super) fn recv_aside(&mut self) -> Result<()> {
        // There is no receive if a fault ended the wait; the next turn then finds the fault.
        let key = self.mail_mut().waited.receive.take().unwrap_or(usize::MAX);
        self.end_recv(key, "the bytes of a message")
    }

    /// Receives if other receives are posted, or messages have arrived that no receive took.
    #[inline(never)]
    pub(super) fn recv_among_others(&mut self, envelope: Envelope, into: Part) -> Result<()> {
        let key = self.begin_recv(envelope, into)?;
        self.end_recv(key, "a message")
    }

    /// Takes a message that has arrived, or posts a receive.
    pub(super) fn begin_recv(&mut self, envelope: Envelope, into: Part) -> Result<usize> {
        let (endpoint, state) = self.am.parts();
        let mail = state.mail_mut();
        // Afterwards every arrival has all bytes that have come.
        while mail.copy_next(endpoint)? {}
        let arrival = mail.find_arrival(envelope).and_then(|index| mail.arrivals.remove(index));
        if let Some(Arrival { body: Body::Pieces { receive, send }, .. }) = arrival {
            mail.take_pieces(receive, into, send);
            return Ok(receive);
        }
        let key = mail.receives.insert(Receive::new(envelope, into));
        match arrival {
            Some(Arrival { bytes, body: Body::Words(words), .. }) => {
                mail.receives[key].arrived(bytes, Taking::Words(words));
            }
            Some(Arrival { bytes, body: Body::Announced { send, at }, .. }) => {
                mail.take_announced(key, bytes, send, at);
            }
            _ => mail.posted.push_back(key),
        }
        Ok(key)
    }

    /// Waits until a receive is over, and removes it.
    pub(super) fn end_recv(&mut self, key: usize, waiting_for: &'static str) -> Result<()> {
        self.wait_until(waiting_for, |mail| mail.has_received(key))?;
        let Receive { envelope, into, bytes, state, .. } = self.mail_mut().receives.remove(key);
        match state {
            Taking::OtherLength => Err(envelope.other_length(bytes, into.len)),
            Taking::Words(words) => {
                inline::unpack(&words, into.of_mut(self.memory_mut())?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether the transport has taken every message sent, and every arrival is where its receive
    /// wants it.
    pub fn has_settled(&self) -> bool {
        self.mail().has_settled()
    }

    /// Whether everything that ranks did together has ended at this rank: every message was
    /// received, and every send and receive was waited for.
    pub fn is_empty(&self) -> bool {
        self.mail().is_empty() && self.unclaimed() == 0
    }

    /// Queues a send behind earlier ones, and sends what finds room.
    pub(super) fn queue_send(&mut self, to: Envelope, from: Part) -> Result<usize> {
        let mail = self.mail_mut();
        let in_pieces = from.len > inline::INLINE && from.len < mail.least;
        let Cut { piece, ahead } = mail.layout.cut(from.len);
        let ahead = if in_pieces { ahead } else { 0 };
        let send = Send { envelope: to, from, piece, ahead, stored: 0, state: Giving::Queued };
        let key = mail.sends.insert(send);
        mail.lanes[to.peer()].queued.push_back(key);
        mail.activate(to.peer());
        self.advance()?;
        Ok(key)
    }

    /// Waits until a send is over, and removes it.
    pub(super) fn end_send(&mut self, key: usize) -> Result<()> {
        self.wait_until("a message to be taken", |mail| mail.has_sent(key))?;
        self.mail_mut().sends.remove(key);
        Ok(())
    }
}

//! Sends and receives that continue while the rank does something else.

use super::{HoldsMail, InSlot, Passing, Pending};
use crate::{Bulk, Part, Rank, Result, Watch};

/// A send or receive that was begun; [`Passing::wait`] ends it.
#[derive(Clone, Copy, Debug)]
pub enum MessageId {
    /// A send that was already over when it was begun.
    Sent,
    /// Key of a send.
    Send(usize),
    /// Key of a receive.
    Receive(usize),
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Begins to send `from` to `peer`.
    ///
    /// # Errors
    /// As [`Passing::send`].
    #[inline]
    pub fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<MessageId>> {
        let sent = self.send_at_once(peer, tag, from)?;
        let id = if sent { MessageId::Sent } else { self.begin_send(peer, tag, from)? };
        Ok(Pending(id))
    }

    /// Posts a receive into `into` for the next message from `peer` with tag `tag`.
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<Pending<MessageId>> {
        let envelope = self.envelope(peer, tag)?;
        into.of(self.memory())?;
        let key = self.begin_recv(envelope, into)?;
        Ok(Pending(MessageId::Receive(key)))
    }

    /// Waits until a send's part may change, or a receive has its message.
    ///
    /// # Errors
    /// As [`Passing::send`] and [`Passing::recv`].
    #[inline]
    pub fn wait(&mut self, pending: Pending<MessageId>) -> Result<()> {
        match pending.0 {
            MessageId::Sent => Ok(()),
            MessageId::Send(key) => self.end_send(key),
            MessageId::Receive(key) => self.end_recv(key, "a message"),
        }
    }

    /// Begins a send that did not fit into words at once.
    pub(super) fn begin_send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<MessageId> {
        match self.send_in_slot(peer, tag, from)? {
            InSlot::Done => Ok(MessageId::Sent),
            InSlot::Begun(key) => Ok(MessageId::Send(key)),
            InSlot::NotNow => {
                let envelope = self.envelope(peer, tag)?;
                self.queue_send(envelope, from).map(MessageId::Send)
            }
        }
    }

    /// Whether [`Passing::wait`] would return at once.
    pub fn is_over(&self, pending: &Pending<MessageId>) -> bool {
        match pending.0 {
            MessageId::Sent => true,
            MessageId::Send(key) => self.mail().has_sent(key),
            MessageId::Receive(key) => self.mail().has_received(key),
        }
    }
}

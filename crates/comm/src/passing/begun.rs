//! Sends and receives that go on while the rank does something else, and looks at what is to come.

use super::entries::{Giving, Lent, Memory, Send};
use super::matching::{Envelope, Status};
use super::{HoldsMail, Passing};
use crate::{Bulk, CommError, Rank, Watch};

/// A send that was begun; it ends with [`Passing::wait_send`].
#[derive(Debug)]
#[must_use]
pub struct SendId(usize);

/// A receive that was posted; it ends with [`Passing::wait_recv`].
#[derive(Debug)]
#[must_use]
pub struct RecvId(usize);

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Begins to send `bytes`, which [`Passing::wait_send`] gives back.
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn isend(&mut self, peer: Rank, tag: u32, bytes: Vec<u8>) -> Result<SendId, CommError> {
        if self.send_at_once(peer, tag, &bytes)? {
            let envelope = Envelope::new(peer, tag);
            let send = Send { envelope, memory: Memory::Owned(bytes), state: Giving::Done };
            return Ok(SendId(self.mail_mut().sends.insert(send)));
        }
        self.begin_send(peer, tag, Memory::Owned(bytes), &mut Lent::default()).map(SendId)
    }

    /// Posts a receive into `into`, which [`Passing::wait_recv`] gives back, as long as it is now.
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn irecv(
        &mut self,
        from: impl Into<Option<Rank>>,
        tag: impl Into<Option<u32>>,
        into: Vec<u8>,
    ) -> Result<RecvId, CommError> {
        let filter = self.filter(from.into(), tag.into())?;
        self.begin_recv(filter, Memory::Owned(into), &mut Lent::default()).map(RecvId)
    }

    /// Waits until a send is over; returns its bytes, which may change again.
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn wait_send(&mut self, id: SendId) -> Result<Vec<u8>, CommError> {
        let key = id.0;
        self.wait_until("a message to be taken", &mut Lent::default(), |mail| mail.has_sent(key))?;
        Ok(match self.mail_mut().sends.remove(key).memory {
            Memory::Owned(bytes) => bytes,
            Memory::Lent(_) => Vec::new(),
        })
    }

    /// Waits until a message has been received; returns it in the first bytes of the buffer posted.
    ///
    /// # Errors
    /// As [`Passing::recv`].
    pub fn wait_recv(&mut self, id: RecvId) -> Result<(Vec<u8>, Status), CommError> {
        let key = id.0;
        self.wait_until("a message", &mut Lent::default(), |mail| mail.has_received(key))?;
        self.end_recv(key, &mut [])
    }

    /// Whether a send is over, so that [`Passing::wait_send`] would return at once. Moves on what
    /// can be moved.
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn test_send(&mut self, id: &SendId) -> Result<bool, CommError> {
        self.turn(&mut Lent::default())?;
        Ok(self.mail().has_sent(id.0))
    }

    /// Whether a message has been received, so that [`Passing::wait_recv`] would return at once.
    /// Moves on what can be moved.
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn test_recv(&mut self, id: &RecvId) -> Result<bool, CommError> {
        self.turn(&mut Lent::default())?;
        Ok(self.mail().has_received(id.0))
    }

    /// Gives a receive up, and its buffer back, unless it has taken a message.
    ///
    /// # Errors
    /// It has; it is given back.
    pub fn cancel(&mut self, id: RecvId) -> Result<Vec<u8>, RecvId> {
        let mail = self.mail_mut();
        let Some(at) = mail.posted.iter().position(|&key| key == id.0) else { return Err(id) };
        mail.posted.remove(at);
        match mail.receives.remove(id.0).memory {
            Memory::Owned(into) => Ok(into),
            Memory::Lent(_) => Ok(Vec::new()),
        }
    }

    /// The message that a receive posted now would take, if it is there or announced. Moves on what
    /// can be moved.
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn iprobe(
        &mut self,
        from: impl Into<Option<Rank>>,
        tag: impl Into<Option<u32>>,
    ) -> Result<Option<Status>, CommError> {
        let filter = self.filter(from.into(), tag.into())?;
        self.turn(&mut Lent::default())?;
        Ok(self.mail().find_arrival(filter).map(|index| self.mail().status_of(index)))
    }

    /// Waits for a message that a receive posted now would take.
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn probe(
        &mut self,
        from: impl Into<Option<Rank>>,
        tag: impl Into<Option<u32>>,
    ) -> Result<Status, CommError> {
        let filter = self.filter(from.into(), tag.into())?;
        let mut found = None;
        self.wait_until("a message to probe", &mut Lent::default(), |mail| {
            found = mail.find_arrival(filter).map(|index| mail.status_of(index));
            found.is_some()
        })?;
        Ok(found.expect("the wait ended with one"))
    }
}

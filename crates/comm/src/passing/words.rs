//! Messages in words where nothing else is under way: past queues and entries.

use super::handlers::Kind;
use super::inline;
use super::matching::{Awaited, Envelope};
use super::{HoldsMail, INLINE, Passing};
use crate::{Bulk, CommError, Message, Part, Posted, Rank, Watch, Word};

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Sends a message in words if nothing is before it and there is room. Says whether it did.
    #[inline(always)]
    pub(super) fn send_at_once(
        &mut self,
        peer: Rank,
        tag: u32,
        from: Part,
    ) -> Result<bool, CommError> {
        let bytes = from.of(&self.memory)?;
        if bytes.len() > INLINE || !self.am.state().mail().active.is_empty() {
            return Ok(false);
        }
        let handler = Kind::Words.after(self.am.state().mail().first);
        let (endpoint, _) = self.am.parts();
        let header = Word::from(tag) | (bytes.len() as Word) << 32;
        // Two calls, so that each stores words of a number known when compiled.
        let posted = if bytes.len() <= 8 {
            endpoint.try_request(peer, Message::new(handler, [header, inline::pack_word(bytes)]))?
        } else {
            let [a, b, c] = inline::pack(bytes);
            endpoint.try_request(peer, Message::new(handler, [header, a, b, c]))?
        };
        Ok(posted == Posted::Yes)
    }

    /// Receives into a part that is in memory.
    #[inline]
    pub(super) fn recv_checked(&mut self, envelope: Envelope, into: Part) -> Result<(), CommError> {
        let mail = self.mail_mut();
        if mail.arrivals.is_empty() && mail.posted.is_empty() {
            mail.waited.message = Awaited::new(envelope);
            mail.waited.into = into;
            self.recv_awaited(envelope, into)
        } else {
            self.recv_among_others(envelope, into)
        }
    }

    /// Waits for the message that the handlers look out for. A loop of its own: nothing is between
    /// a short message and its part.
    #[inline(always)]
    fn recv_awaited(&mut self, envelope: Envelope, into: Part) -> Result<(), CommError> {
        let mut idle = 0_u32;
        let mut since = None;
        loop {
            let mut moved = self.am.poll()?;
            // Before anything else is done: what lies in a slot comes first of all slots.
            let waited = &self.am.state().mail().waited;
            if waited.message.is_taken() {
                if waited.message.is_aside() {
                    return self.recv_aside(envelope, into);
                }
                if waited.bytes != into.len {
                    return Err(envelope.other_length(waited.bytes, into.len));
                }
                inline::unpack(waited.words, into.of_mut(&mut self.memory)?);
                return Ok(());
            }
            if self.mail().attention {
                moved += self.advance()?;
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
}

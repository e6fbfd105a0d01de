//! The fast path of messages in words, which bypasses queues and entries if nothing else is in
//! progress.

use super::entries::Envelope;
use super::handlers::HandlerOffset;
use super::inline;
use super::{HoldsMail, INLINE, Passing};
use crate::active::Expected;
use crate::{Bulk, Message, Part, Posted, Rank, Result, Watch, Word};

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Sends a message in words, if nothing is ahead of it and there is room. Returns whether it
    /// did.
    #[inline(always)]
    pub(super) fn send_at_once(&mut self, peer: Rank, tag: u32, from: Part) -> Result<bool> {
        let (endpoint, state) = self.am.parts();
        let mail = state.mail();
        let bytes = from.of(&mail.memory)?;
        if bytes.len() > INLINE || !mail.active.is_empty() {
            return Ok(false);
        }
        let handler = HandlerOffset::Words.after(mail.first);
        let header = header(tag, bytes.len());
        // Two calls, so that each stores a number of words that is known at compile time.
        let posted = if bytes.len() <= 8 {
            endpoint.try_request(peer, Message::new(handler, [header, inline::pack_word(bytes)]))?
        } else {
            let [a, b, c] = inline::pack(bytes);
            endpoint.try_request(peer, Message::new(handler, [header, a, b, c]))?
        };
        Ok(posted == Posted::Yes)
    }

    /// Receives into a part that is known to be in memory.
    #[inline(always)]
    pub(super) fn recv_checked(&mut self, envelope: Envelope, into: Part) -> Result<()> {
        let mail = self.mail_mut();
        if !(mail.arrivals.is_empty() && mail.posted.is_empty()) {
            return self.recv_among_others(envelope, into);
        }
        // For handlers, in case another message than the expected one arrives.
        mail.waited.message = Some(envelope);
        mail.waited.into = into;
        if into.len > INLINE {
            self.recv_long(envelope, into)
        } else {
            self.recv_short(envelope, into)
        }
    }

    /// Waits for a message in words, which goes directly to its part.
    #[inline(always)]
    fn recv_short(&mut self, envelope: Envelope, into: Part) -> Result<()> {
        let handler = HandlerOffset::Words.after(self.mail().first);
        let header = header(envelope.tag(), into.len);
        let mut expected = if into.len <= 8 {
            Expected::new::<2>(envelope.peer(), handler, header)
        } else {
            Expected::new::<4>(envelope.peer(), handler, header)
        };
        self.turns_for_waited(&mut expected)?;
        if !expected.came {
            return self.recv_aside();
        }
        inline::unpack(&expected.rest, into.of_mut(self.memory_mut())?);
        Ok(())
    }
}

/// First word of the request that carries a message.
#[inline(always)]
pub(super) fn header(tag: u32, bytes: usize) -> Word {
    Word::from(tag) | (bytes as Word) << 32
}

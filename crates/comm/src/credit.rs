//! Flow control by credits, which makes any [`Link`] an [`Endpoint`] and a [`crate::Bulk`].
//!
//! A rank has C credits for each peer. A request takes one, and its reply returns it. If a request
//! is handled without a reply, its receiver owes the credit. Owed credits travel in
//! [`Frame::credits`] of the next frame to that peer. They get their own frame when half of C are
//! owed, or when there was nothing to handle.
//!
//! # Why this cannot deadlock
//! * A reply always finds room. It answers a request that took one of C credits, and the credit
//!   stays taken until the reply is sent. So at most C replies to a peer are unsent, and the queue
//!   has room for C.
//! * Progress takes every frame that has arrived, even if this rank's outgoing channels are full.
//!   So a channel drains while its receiver makes progress, and a frame that found it full finds
//!   room later.
//! * Only new requests wait, and only their own sender waits for them.
//!
//! A get takes a credit too; the payload that answers it returns the credit. So at most C gets from
//! a peer wait for their answers, which come in order. A store takes no credit: it goes to exposed
//! memory, and needs no other room. While a payload is on its way to a peer, everything else for
//! that peer waits until the peer has received it.
//!
//! Nothing is allocated after construction.

use std::time::Duration;

use crate::{
    AHEAD, CommError, Deliver, Endpoint, Frame, FrameKind, Frames, HandlerId, Link, Message,
    Posted, Rank, Result, check_peer,
};

mod bulk;
mod ledger;

use ledger::{Ledger, Violation};

/// Default number of credits for each peer, worth several round trips: enough for a sender to keep
/// a loopback socket busy, few enough for the queues of many peers to stay in the cache.
pub const DEFAULT_CREDITS: u16 = 32;

/// An [`Endpoint`] over a [`Link`], with a fixed number of credits for each peer.
#[derive(Debug)]
pub struct Credited<L> {
    link: L,
    ledger: Ledger,
}

impl<L: Link> Credited<L> {
    /// Adds flow control with `credits` credits to `link`. Every rank of a run must have the same
    /// number.
    ///
    /// # Panics
    /// `credits` is 0: no request could ever be sent.
    pub fn new(link: L, credits: u16) -> Self {
        assert!(credits > 0, "flow control needs at least one credit");
        let ledger = Ledger::new(link.size(), credits, link.exposed().len());
        Self { link, ledger }
    }

    /// Sends a frame that takes a credit, if one is left, and owed credits with it.
    #[inline]
    fn send_on_credit(
        &mut self,
        peer: Rank,
        kind: FrameKind,
        message: Message,
        send: impl FnOnce(&mut L, &Frame) -> Result<Posted>,
    ) -> Result<Posted> {
        check_peer(peer, self.link.rank(), self.link.size())?;
        let account = &mut self.ledger.peers[peer];
        if account.credits == 0 {
            return Ok(Posted::Busy);
        }
        let frame = Frame { kind, credits: account.owed, message };
        let posted = send(&mut self.link, &frame)?;
        if posted == Posted::Yes {
            account.credits -= 1;
            self.ledger.outstanding += 1;
            self.ledger.owed -= usize::from(std::mem::take(&mut account.owed));
        }
        Ok(posted)
    }

    /// Sends waiting replies, as far as the link takes them.
    #[inline]
    fn send_replies(&mut self) -> Result<()> {
        for (to, peer) in self.ledger.peers.iter_mut().enumerate() {
            while let Some(&message) = peer.replies.front() {
                let frame = Frame { kind: FrameKind::Reply, credits: peer.owed, message };
                if self.link.try_send(to, &frame)? == Posted::Busy {
                    break;
                }
                peer.replies.pop_front();
                self.ledger.queued -= 1;
                self.ledger.owed -= usize::from(std::mem::take(&mut peer.owed));
            }
        }
        Ok(())
    }

    /// Returns owed credits to each peer that is owed at least `least`.
    #[cold]
    #[inline(never)]
    fn send_credits(&mut self, least: u16) -> Result<()> {
        for (to, peer) in self.ledger.peers.iter_mut().enumerate() {
            if peer.owed < least {
                continue;
            }
            let message = Message::new(HandlerId(0), []);
            let frame = Frame { kind: FrameKind::Credit, credits: peer.owed, message };
            if self.link.try_send(to, &frame)? == Posted::Yes {
                self.ledger.owed -= usize::from(std::mem::take(&mut peer.owed));
            }
        }
        Ok(())
    }
}

impl<L: Link> Endpoint for Credited<L> {
    fn tended(&self) -> bool {
        self.link.tended()
    }

    fn rank(&self) -> Rank {
        self.link.rank()
    }

    fn size(&self) -> usize {
        self.link.size()
    }

    fn capacity(&self) -> usize {
        usize::from(self.ledger.capacity)
    }

    #[inline]
    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted> {
        self.send_on_credit(peer, FrameKind::Request, message, |link, it| link.try_send(peer, it))
    }

    #[inline]
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize> {
        let ledger = &mut self.ledger;
        let mut accepting = Accepting { ledger, deliver, handled: 0, carrying: false, fault: None };
        let frames = self.link.receive(&mut accepting)?;
        let Accepting { handled, carrying, fault, .. } = accepting;
        if let Some((peer, violation)) = fault {
            return Err(CommError::Garbage { peer, what: violation.to_string() });
        }
        if self.ledger.queued > 0 {
            self.send_replies()?;
        }
        if self.ledger.unanswered > 0 {
            self.answer_gets()?;
        }
        if self.ledger.owed > 0 {
            if frames == 0 && !carrying {
                self.send_credits(1)?;
            } else if std::mem::take(&mut self.ledger.urgent) {
                self.send_credits(self.ledger.half())?;
            }
        }
        Ok(handled)
    }

    fn outstanding(&self) -> usize {
        self.ledger.outstanding
    }

    fn unsent(&self) -> usize {
        self.ledger.queued + self.ledger.unanswered + self.ledger.owed + self.link.unsent()
    }

    fn block(&mut self, timeout: Duration) -> Result<()> {
        self.link.block(timeout)
    }
}

/// Accounts for what a link delivers, and delivers it, until a peer violates flow control.
struct Accepting<'a, D> {
    ledger: &'a mut Ledger,
    deliver: &'a mut D,
    handled: usize,
    /// Whether bytes of a request are on their way.
    carrying: bool,
    fault: Option<(Rank, Violation)>,
}

impl<D: Deliver> Frames for &mut Accepting<'_, D> {
    #[inline(always)]
    fn frame(&mut self, from: Rank, frame: Frame) {
        if self.fault.is_none() {
            match self.ledger.accept(from, frame, self.deliver) {
                Ok(count) => self.handled += count,
                Err(violation) => self.fault = Some((from, violation)),
            }
        }
    }

    fn room(&mut self, from: Rank, done: usize) -> Option<&mut [u8]> {
        self.carrying |= done != AHEAD;
        self.deliver.room(from, done)
    }
}

#[cfg(test)]
mod tests;

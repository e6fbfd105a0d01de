//! Flow control by credits: makes an [`Endpoint`] of any [`Link`].
//!
//! A rank holds C credits toward each peer. A request takes one and its reply returns it. The
//! credits of requests that were handled without a reply are owed: they travel in
//! [`Frame::credits`] of whatever frame goes to that peer next, and in a frame of their own when
//! half of C are owed or when there was nothing to handle.
//!
//! # Why this cannot deadlock
//! A reply answers a request that took one of C credits, and the credit stays taken until the
//! reply is on its way. So at most C replies to one peer are ever unsent, and the queue has room
//! for C: a handler's reply never waits. Then progress takes every frame that has arrived however
//! full the channels out of this rank are, so every channel whose receiver makes progress drains,
//! and a frame that found its channel full finds room later. Only new requests wait, and nothing
//! waits for them but their own sender.
//!
//! Nothing is allocated after construction.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{
    Capabilities, CommError, Deliver, Endpoint, Frame, FrameKind, HandlerId, Link, Message,
    NoHandler, Posted, Rank,
};

/// Credits toward each peer where nothing else is asked for: enough for a sender to keep a
/// loopback socket busy, few enough for the queues of many peers to stay in the cache.
pub const DEFAULT_CREDITS: u16 = 64;

/// An [`Endpoint`] over a [`Link`], with a fixed number of credits toward each peer.
#[derive(Debug)]
pub struct Credited<L> {
    link: L,
    ledger: Ledger,
}

impl<L: Link> Credited<L> {
    /// Flow control with `credits` credits over `link`; every rank of a run must be given the same
    /// number.
    ///
    /// # Panics
    /// `credits` is 0, with which no request could ever be sent.
    pub fn new(link: L, credits: u16) -> Self {
        assert!(credits > 0, "a request takes one credit, and there are none");
        let ledger = Ledger::new(link.size(), credits);
        Self { link, ledger }
    }

    /// The link below.
    pub fn link(&self) -> &L {
        &self.link
    }

    /// Sends the replies that wait, as far as the link takes them.
    #[inline]
    fn send_replies(&mut self) -> Result<(), CommError> {
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

    /// Returns the credits owed to each peer that is owed `least` or more.
    #[cold]
    #[inline(never)]
    fn send_credits(&mut self, least: u16) -> Result<(), CommError> {
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
    fn rank(&self) -> Rank {
        self.link.rank()
    }

    fn size(&self) -> usize {
        self.link.size()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { capacity: usize::from(self.ledger.capacity), blocks: self.link.blocks() }
    }

    #[inline]
    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted, CommError> {
        let size = self.link.size();
        if peer >= size || peer == self.link.rank() {
            return Err(CommError::NoSuchPeer { peer, size });
        }
        let account = &mut self.ledger.peers[peer];
        if account.credits == 0 {
            return Ok(Posted::Busy);
        }
        let frame = Frame { kind: FrameKind::Request, credits: account.owed, message };
        let posted = self.link.try_send(peer, &frame)?;
        if posted == Posted::Yes {
            account.credits -= 1;
            self.ledger.outstanding += 1;
            self.ledger.owed -= usize::from(std::mem::take(&mut account.owed));
        }
        Ok(posted)
    }

    #[inline]
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError> {
        let ledger = &mut self.ledger;
        let mut handled = 0;
        let mut fault = None;
        let frames = self.link.receive(|from, frame| {
            if fault.is_none() {
                match ledger.accept(from, frame, deliver) {
                    Ok(count) => handled += count,
                    Err(violation) => fault = Some((from, violation)),
                }
            }
        })?;
        if let Some((peer, violation)) = fault {
            return Err(CommError::Garbage { peer, what: violation.to_string() });
        }
        if self.ledger.queued > 0 {
            self.send_replies()?;
        }
        if self.ledger.owed > 0 {
            if frames == 0 {
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
        self.ledger.queued + self.ledger.owed + self.link.unsent()
    }

    fn block(&mut self, timeout: Duration) -> Result<(), CommError> {
        self.link.block(timeout)
    }
}

/// Who owes whom how many credits, and the replies that wait to be sent.
#[derive(Debug)]
struct Ledger {
    /// C.
    capacity: u16,
    /// One account for each rank; this rank's own stays as it was made.
    peers: Vec<Account>,
    /// Credits of this rank that are out, over all peers.
    outstanding: usize,
    /// Replies that wait, over all peers.
    queued: usize,
    /// Credits owed, over all peers.
    owed: usize,
    /// Whether some peer is owed half of C.
    urgent: bool,
}

/// The account with one peer. Always `owed + replies.len() <= C`.
#[derive(Debug)]
struct Account {
    /// Requests that may still be sent to the peer.
    credits: u16,
    /// Requests of the peer that were handled without a reply, their credits not yet returned.
    owed: u16,
    /// Replies not yet sent.
    replies: VecDeque<Message>,
}

/// What no peer that counts as it should can send.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Violation {
    #[error("a request beyond the {capacity} that may be outstanding")]
    Request { capacity: u16 },
    #[error("the completion of {returned} requests while {out} are outstanding")]
    Return { returned: usize, out: u16 },
    #[error("a credit frame that returns 0 credits")]
    Nothing,
    #[error(transparent)]
    Handler(#[from] NoHandler),
}

impl Ledger {
    fn new(size: usize, capacity: u16) -> Self {
        let account = || Account {
            credits: capacity,
            owed: 0,
            replies: VecDeque::with_capacity(usize::from(capacity)),
        };
        let peers = std::iter::repeat_with(account).take(size).collect();
        Self { capacity, peers, outstanding: 0, queued: 0, owed: 0, urgent: false }
    }

    /// Credits owed from which on they are returned in a frame of their own.
    fn half(&self) -> u16 {
        self.capacity.div_ceil(2)
    }

    /// Books one frame, and delivers it. Returns the number of requests and completions in it.
    #[inline]
    fn accept<D: Deliver>(
        &mut self,
        from: Rank,
        frame: Frame,
        deliver: &mut D,
    ) -> Result<usize, Violation> {
        let half = self.half();
        let capacity = self.capacity;
        let account = &mut self.peers[from];
        let out = capacity - account.credits;
        let returned = usize::from(frame.credits) + usize::from(frame.kind == FrameKind::Reply);
        if returned > usize::from(out) {
            return Err(Violation::Return { returned, out });
        }
        account.credits += returned as u16;
        self.outstanding -= returned;
        match frame.kind {
            FrameKind::Request => {
                if usize::from(account.owed) + account.replies.len() == usize::from(capacity) {
                    return Err(Violation::Request { capacity });
                }
                match deliver.request(from, frame.message)? {
                    Some(reply) => {
                        account.replies.push_back(*reply);
                        self.queued += 1;
                    }
                    None => {
                        account.owed += 1;
                        self.owed += 1;
                        self.urgent |= account.owed >= half;
                    }
                }
                Ok(returned + 1)
            }
            FrameKind::Reply => {
                deliver.reply(from, frame.message)?;
                Ok(returned)
            }
            FrameKind::Credit if returned == 0 => Err(Violation::Nothing),
            FrameKind::Credit => Ok(returned),
        }
    }
}

#[cfg(test)]
mod tests;

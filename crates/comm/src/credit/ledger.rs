//! The accounts of flow control: which credits are taken and owed.

use std::collections::VecDeque;

use crate::{Deliver, Frame, FrameKind, Message, NoHandler, Rank};

/// Credits taken and owed, and messages that wait to be sent.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Credits of each rank for each peer (C).
    pub(super) capacity: u16,
    /// Number of bytes that each rank exposes.
    pub(super) exposed: usize,
    /// One account for each rank; this rank's own is unused.
    pub(super) peers: Vec<Account>,
    /// Credits of this rank that are taken, over all peers.
    pub(super) outstanding: usize,
    /// Waiting replies, over all peers.
    pub(super) queued: usize,
    /// Peers' gets that wait to be answered, over all peers.
    pub(super) unanswered: usize,
    /// Credits owed, over all peers.
    pub(super) owed: usize,
    /// Whether some peer is owed at least half of C.
    pub(super) urgent: bool,
}

/// The account with one peer. Invariants: `owed + replies.len() + gets.len() <= C` and `credits +
/// asked.len() <= C`.
#[derive(Debug)]
pub(super) struct Account {
    /// Requests and gets that may still be sent to the peer.
    pub(super) credits: u16,
    /// The peer's requests that were handled without a reply and whose credits are not yet
    /// returned.
    pub(super) owed: u16,
    /// Replies that are not yet sent.
    pub(super) replies: VecDeque<Message>,
    /// The peer's gets that are not yet answered.
    pub(super) gets: VecDeque<Get>,
    /// Bytes of the first get that are on their way.
    pub(super) answered: usize,
    /// Credits that the request being carried returns, once one was begun.
    pub(super) carried: Option<u16>,
    /// This rank's gets, in the order in which the peer answers them.
    pub(super) asked: VecDeque<Asked>,
}

/// A peer's get: `len` bytes from offset `at` of this rank, to offset `into` of the peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Get {
    pub(super) at: usize,
    pub(super) into: usize,
    pub(super) len: usize,
}

/// This rank's get: where `len` bytes will arrive, and the message to deliver then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) into: usize,
    pub(super) len: usize,
    pub(super) message: Message,
}

/// A violation of flow control by a peer.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum Violation {
    #[error("a request beyond the limit of {capacity} outstanding ones")]
    Request { capacity: u16 },
    #[error("{returned} completions while {out} requests are outstanding")]
    Return { returned: usize, out: u16 },
    #[error("a credit frame that returns 0 credits")]
    Nothing,
    #[error("a get beyond the limit of {capacity} outstanding ones")]
    Get { capacity: u16 },
    #[error("a get with {words} words; it needs two offsets and a length")]
    GetWords { words: usize },
    #[error(
        "a get of {len} bytes from offset {at} to offset {into}; only {exposed} bytes are exposed"
    )]
    GetRange { at: u64, into: u64, len: u64, exposed: usize },
    #[error("{len} bytes for offset {into} without a get")]
    Unasked { into: u64, len: u64 },
    #[error(
        "{len} bytes for offset {into}; the next get wants {asked_len} for offset {asked_into}"
    )]
    Got { into: u64, len: u64, asked_into: usize, asked_len: usize },
    #[error("{bytes} bytes of a request that has none")]
    Carried { bytes: u64 },
    #[error(transparent)]
    Handler(#[from] NoHandler),
}

impl Ledger {
    pub(super) fn new(size: usize, capacity: u16, exposed: usize) -> Self {
        let most = usize::from(capacity);
        let account = || Account {
            credits: capacity,
            owed: 0,
            replies: VecDeque::with_capacity(most),
            gets: VecDeque::with_capacity(most),
            answered: 0,
            carried: None,
            asked: VecDeque::with_capacity(most),
        };
        let peers = std::iter::repeat_with(account).take(size).collect();
        let (outstanding, queued, unanswered, owed) = (0, 0, 0, 0);
        Self { capacity, exposed, peers, outstanding, queued, unanswered, owed, urgent: false }
    }

    /// Number of owed credits that get their own frame.
    pub(super) fn half(&self) -> u16 {
        self.capacity.div_ceil(2)
    }

    /// Accounts for one frame, and delivers it. Returns the number of requests and completions in
    /// it.
    #[inline]
    pub(super) fn accept<D: Deliver>(
        &mut self,
        from: Rank,
        frame: Frame,
        deliver: &mut D,
    ) -> Result<usize, Violation> {
        let half = self.half();
        let capacity = self.capacity;
        let account = &mut self.peers[from];
        let out = capacity - account.credits - account.asked.len() as u16;
        let returned = usize::from(frame.credits) + usize::from(frame.kind == FrameKind::Reply);
        if returned > usize::from(out) {
            return Err(Violation::Return { returned, out });
        }
        account.credits += returned as u16;
        self.outstanding -= returned;
        match frame.kind {
            FrameKind::Request => {
                if account.is_full(capacity) {
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
            FrameKind::Credit | FrameKind::Stored => Ok(returned),
            FrameKind::Get => {
                self.enter_get(from, &frame.message)?;
                Ok(returned)
            }
            FrameKind::Carried => {
                let [bytes, ..] = *frame.message.all_words();
                deliver.room(from, bytes as usize).ok_or(Violation::Carried { bytes })?;
                Ok(returned + 1)
            }
            FrameKind::Got => {
                let message = self.end_get(from, &frame.message)?;
                deliver.reply(from, message)?;
                Ok(returned + 1)
            }
        }
    }

    /// Accepts a peer's get.
    #[inline(never)]
    fn enter_get(&mut self, from: Rank, asked: &Message) -> Result<(), Violation> {
        let (capacity, exposed) = (self.capacity, self.exposed);
        let account = &mut self.peers[from];
        if account.is_full(capacity) {
            return Err(Violation::Get { capacity });
        }
        let &[at, into, len] = asked.words() else {
            return Err(Violation::GetWords { words: asked.len() });
        };
        let inside = |at: u64| at.checked_add(len).is_some_and(|end| end <= exposed as u64);
        if !(inside(at) && inside(into)) {
            return Err(Violation::GetRange { at, into, len, exposed });
        }
        account.gets.push_back(Get { at: at as usize, into: into as usize, len: len as usize });
        self.unanswered += 1;
        Ok(())
    }

    /// Ends the oldest get, whose bytes have arrived. Returns the message to deliver.
    #[inline(never)]
    fn end_get(&mut self, from: Rank, got: &Message) -> Result<Message, Violation> {
        let account = &mut self.peers[from];
        let [into, len, ..] = *got.all_words();
        let Some(&Asked { into: asked_into, len: asked_len, message }) = account.asked.front()
        else {
            return Err(Violation::Unasked { into, len });
        };
        if (into, len) != (asked_into as u64, asked_len as u64) {
            return Err(Violation::Got { into, len, asked_into, asked_len });
        }
        account.asked.pop_front();
        account.credits += 1;
        self.outstanding -= 1;
        Ok(message)
    }
}

impl Account {
    /// Whether the peer has taken all its credits.
    #[inline]
    fn is_full(&self, capacity: u16) -> bool {
        usize::from(self.owed) + self.replies.len() + self.gets.len() == usize::from(capacity)
    }
}

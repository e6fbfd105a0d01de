//! Message passing from rank to rank, over Active Messages.
//!
//! A message of up to 24 bytes travels in the words of its request. A longer one is stored in a
//! slot of its receiver's exposed memory, and copied out into its buffer (eager). One that is
//! longer still is announced; when a receive has taken it, its bytes follow in pieces through the
//! slots, written and copied out at once by the two ranks (rendezvous). [`Tuning`] says where one
//! protocol ends and the next begins.
//!
//! Messages of one sender and tag are received in the order in which they were sent, and by
//! receives in the order in which these were posted (MPI 4.1, section 3.5, "Semantics of
//! Point-to-Point Communication"). A message that no receive has taken is kept: its slot is
//! emptied for those that follow, so that a rank that sends never waits for one that computes, and
//! only memory bounds what may wait. Those announced wait at their senders.
//!
//! No call waits without moving on everything else: bytes that arrive are copied out while this
//! rank sends, answers go out while it receives. Handlers send nothing and copy no slot; they match
//! messages with receives, in order of arrival, and leave the rest to the waiting calls. So a rank
//! that is in no call for long moves nothing.
//!
//! After an error nothing more is to be expected, except after [`CommError::TooLong`], which loses
//! the one message.

use crate::wait::{Waiting, Watch};
use crate::{ActiveMessages, Bulk, CommError, Handlers, Message, Posted, Rank, Word};

mod arriving;
mod begun;
#[cfg(feature = "conformance")]
pub mod conformance;
mod eager;
mod engine;
mod entries;
mod handlers;
mod inline;
mod lane;
mod mail;
mod matching;
mod outgoing;
mod steps;
mod tuning;

pub use begun::{RecvId, SendId};
pub use handlers::add_handlers;
pub use inline::INLINE;
pub use mail::{FirstHandlers, HoldsMail, Mail};
pub use matching::Status;
pub use tuning::Tuning;

use eager::InSlot;
use entries::{Lent, Memory};
use handlers::Kind;

/// Message passing of one rank.
///
/// A peer is another rank; a rank sends nothing to itself. `None` stands for any sender, and for
/// any tag. In a measurement `S` is the state of other handlers too; by itself it is [`Mail`].
///
/// ```
/// # use std::time::Duration;
/// # use bandgap_comm::passing::{Passing, Status, Tuning};
/// # use bandgap_comm::{Bulk, NoWatch, Waiting};
/// fn first_rank(endpoint: impl Bulk) -> Result<(), bandgap_comm::CommError> {
///     let watch = NoWatch(Duration::from_secs(10));
///     let mut ranks = Passing::new(endpoint, 0, &Tuning::default(), Waiting::Spin, watch)?;
///     let posted = ranks.irecv(1, None, vec![0; 1 << 20])?;
///     ranks.send(1, 7, b"how are you?")?;
///     let (bytes, Status { tag, .. }) = ranks.wait_recv(posted)?;
///     println!("rank 1 says {:?}, tag {tag}", &bytes[..2]);
///     ranks.settle()
/// }
/// ```
#[derive(Debug)]
pub struct Passing<E, W, S = Mail> {
    am: ActiveMessages<E, S, W>,
}

impl<E: Bulk, W: Watch> Passing<E, W> {
    /// Message passing over `endpoint`, whose exposed memory from offset `at` on holds the slots.
    ///
    /// # Errors
    /// [`CommError::NotExposed`]: that memory is less than [`Tuning::memory`].
    pub fn new(
        endpoint: E,
        at: usize,
        tuning: &Tuning,
        waiting: Waiting,
        watch: W,
    ) -> Result<Self, CommError> {
        let mut handlers = Handlers::new();
        let first = add_handlers(&mut handlers);
        let (rank, size) = (endpoint.rank(), endpoint.size());
        let mail = Mail::new(rank, size, endpoint.exposed(), at, tuning, first)?;
        Ok(Self::over(ActiveMessages::new(endpoint, handlers, mail, waiting, watch)))
    }
}

impl<E, W, S> Passing<E, W, S> {
    /// Message passing over Active Messages that have its handlers ([`add_handlers`]) and its
    /// state; without these, a mere holder of them.
    pub fn over(am: ActiveMessages<E, S, W>) -> Self {
        Self { am }
    }

    /// The Active Messages below. While requests are sent there, no send may be under way: between
    /// the parts of a store a transport takes no request.
    #[inline(always)]
    pub fn active(&mut self) -> &mut ActiveMessages<E, S, W> {
        &mut self.am
    }

    /// The Active Messages below, to look at.
    #[inline(always)]
    pub fn as_active(&self) -> &ActiveMessages<E, S, W> {
        &self.am
    }

    /// The Active Messages below, when message passing is over.
    pub fn into_active(self) -> ActiveMessages<E, S, W> {
        self.am
    }
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// This rank.
    #[inline(always)]
    pub fn rank(&self) -> Rank {
        self.am.rank()
    }

    /// Number of ranks.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.am.size()
    }

    #[inline(always)]
    fn mail(&self) -> &Mail {
        self.am.state().mail()
    }

    #[inline(always)]
    fn mail_mut(&mut self) -> &mut Mail {
        self.am.state_mut().mail_mut()
    }

    /// Sends a message, and returns when `bytes` may change: a short one may then still be on its
    /// way, of a long one the last piece.
    ///
    /// # Errors
    /// `peer` is no other rank of the run, a peer is gone or sent garbage, or the deadline passed.
    #[inline(always)]
    pub fn send(&mut self, peer: Rank, tag: u32, bytes: &[u8]) -> Result<(), CommError> {
        if self.send_at_once(peer, tag, bytes)? {
            return Ok(());
        }
        self.send_later(peer, tag, bytes)
    }

    /// Sends a message in words if nothing is before it and there is room, and says whether it did.
    #[inline(always)]
    fn send_at_once(&mut self, peer: Rank, tag: u32, bytes: &[u8]) -> Result<bool, CommError> {
        if bytes.len() > INLINE || !self.mail().active.is_empty() {
            return Ok(false);
        }
        let handler = self.mail().first.of(Kind::Words);
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

    #[inline(never)]
    fn send_later(&mut self, peer: Rank, tag: u32, bytes: &[u8]) -> Result<(), CommError> {
        let mut lent = Lent { send: bytes, recv: &mut [] };
        let key = match self.send_in_slot(peer, tag, bytes)? {
            InSlot::Done => return Ok(()),
            InSlot::Begun(key) => key,
            InSlot::NotNow => self.begin_send(peer, tag, Memory::Lent(bytes.len()), &mut lent)?,
        };
        self.wait_until("a message to be taken", &mut lent, |mail| mail.has_sent(key))?;
        self.mail_mut().sends.remove(key);
        Ok(())
    }

    /// Receives a message into the first bytes of `into`.
    ///
    /// # Errors
    /// As [`Passing::send`]; [`CommError::TooLong`] where the message is longer than `into`.
    #[inline]
    pub fn recv(
        &mut self,
        from: impl Into<Option<Rank>>,
        tag: impl Into<Option<u32>>,
        into: &mut [u8],
    ) -> Result<Status, CommError> {
        let filter = self.filter(from.into(), tag.into())?;
        let mail = self.mail_mut();
        if mail.arrivals.is_empty() && mail.posted.is_empty() {
            mail.waited.filter = filter;
            mail.waited.room = into.len();
            self.recv_awaited(into)
        } else {
            self.recv_among_others(filter, into)
        }
    }

    /// Sends a message to `peer` and receives one of the same tag from it at once, whatever their
    /// lengths.
    ///
    /// # Errors
    /// As [`Passing::send`] and [`Passing::recv`].
    #[inline]
    pub fn exchange(
        &mut self,
        peer: Rank,
        tag: u32,
        bytes: &[u8],
        into: &mut [u8],
    ) -> Result<Status, CommError> {
        if self.send_at_once(peer, tag, bytes)? {
            return self.recv(peer, tag, into);
        }
        self.exchange_later(peer, tag, bytes, into)
    }

    #[inline(never)]
    fn exchange_later(
        &mut self,
        peer: Rank,
        tag: u32,
        bytes: &[u8],
        into: &mut [u8],
    ) -> Result<Status, CommError> {
        let filter = self.filter(Some(peer), Some(tag))?;
        let sent = self.send_in_slot(peer, tag, bytes)?;
        if sent == InSlot::Done {
            return self.recv(peer, tag, into);
        }
        let mut lent = Lent { send: bytes, recv: into };
        let room = Memory::Lent(lent.recv.len());
        let receive = self.begin_recv(filter, room, &mut lent)?;
        let send = match sent {
            InSlot::Begun(key) => key,
            _ => self.begin_send(peer, tag, Memory::Lent(bytes.len()), &mut lent)?,
        };
        self.wait_until("both messages of an exchange", &mut lent, |mail| {
            mail.has_sent(send) && mail.has_received(receive)
        })?;
        self.mail_mut().sends.remove(send);
        Ok(self.end_recv(receive, into)?.1)
    }

    /// Handles what has arrived, and moves on what can be moved, without waiting. Returns how much
    /// that was. A rank that computes calls this between, lest its peers wait.
    ///
    /// # Errors
    /// A peer is gone or sent garbage.
    pub fn poll(&mut self) -> Result<usize, CommError> {
        self.turn(&mut Lent::default())
    }

    /// Returns when every rank has called it. In round k of ⌈log₂ size⌉ a rank tells the one 2ᵏ
    /// further, and waits for the one 2ᵏ before (Hensgen, Finkel and Manber, "Two algorithms for
    /// barrier synchronization", 1988).
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn barrier(&mut self) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        for round in 0..self.mail().barrier.len() {
            let peer = (rank + (1 << round)) % size;
            let handler = self.mail().first.of(Kind::Barrier);
            let message = Message::new(handler, [round as Word]);
            let (endpoint, state) = self.am.parts();
            let mail = state.mail_mut();
            // A lane toward which something waits may be in the middle of a store.
            if mail.lanes[peer].listed || endpoint.try_request(peer, message)? == Posted::Busy {
                mail.lanes[peer].control.push_back(message);
                mail.activate(peer);
            }
            let came = |mail: &Mail| mail.barrier[round] > 0;
            self.wait_until("ranks to come to a barrier", &mut Lent::default(), came)?;
            self.mail_mut().barrier[round] -= 1;
        }
        Ok(())
    }

    /// Waits until every message sent is with its receiver's transport, and nothing is owed to
    /// peers. A rank that makes no call for a while, or never again, calls this first.
    ///
    /// # Errors
    /// As [`Passing::send`].
    pub fn settle(&mut self) -> Result<(), CommError> {
        self.wait_until("room for what is to be sent", &mut Lent::default(), Mail::has_settled)?;
        self.am.settle()
    }

    /// Whether nothing waits to be sent or copied.
    #[cfg(feature = "conformance")]
    pub(crate) fn has_settled(&self) -> bool {
        self.mail().has_settled()
    }

    /// Nothing is left: every message was received, every send and receive waited for.
    #[cfg(feature = "conformance")]
    pub(crate) fn assert_empty(&self) {
        let mail = self.mail();
        assert!(mail.waited.filter.is_closed() && mail.waited.receive.is_none());
        let left = [mail.posted.len(), mail.arrivals.len(), mail.work.len(), mail.active.len()];
        assert_eq!(left, [0; 4], "posted, arrivals, work, active");
        assert_eq!((mail.sends.len(), mail.receives.len()), (0, 0), "sends, receives");
        assert!(mail.lanes.iter().all(|lane| lane.is_idle() && lane.filled == lane.emptied));
    }
}

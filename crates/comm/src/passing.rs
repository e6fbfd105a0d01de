//! Message passing between ranks, over Active Messages.
//!
//! A message is a [`Part`] of its sender's memory, and is received into a part of its receiver's.
//! Its length decides how it travels; [`Tuning`] and [`Way`] set the limits:
//!
//! * Up to 24 bytes travel in the words of one request.
//! * A longer message travels in pieces. The sender stores them in slots of exposed memory, and the
//!   receiver copies them out at the same time. A request follows each piece, and may go with it
//!   ([`Bulk::try_store_then`]). Where there are no slots, a request carries its piece
//!   ([`Bulk::try_carry`]), which goes straight to the receive that takes it. The first pieces are
//!   sent at once (eager); the rest of a long message follows when a receive has taken it
//!   (rendezvous).
//! * Or the sender announces the message, and the receiver reads it from the sender's memory
//!   through the kernel, if the transport can do that ([`Way`]).
//!
//! A receive names sender, tag and length. Messages with the same sender and tag are received in
//! the order of their sends, by receives in the order of their posting (MPI 4.1, section 3.5,
//! "Semantics of Point-to-Point Communication"). Pieces of a message that no receive has taken yet
//! are kept, and their slots are freed at the receiver's next call. So a sender of short messages
//! does not wait for the receive, and only memory limits the number of messages kept. The rest of a
//! long message waits at its sender.
//!
//! Every call that waits also makes progress on everything else: a rank that sends copies out what
//! arrives, and one that receives sends its answers. Handlers neither send nor copy slots; they
//! match messages with receives in order of arrival, and leave the rest to the calls. So nothing
//! moves at a rank that makes no call. A rank that waits for one message or for a barrier takes the
//! expected request itself; all others go to the handlers.
//!
//! After an error message passing no longer works, with two exceptions: an error about a call's
//! arguments changes nothing, and [`CommError::OtherLength`] loses one message.

use crate::wait::{Waiting, Watch};
use crate::{
    ActiveMessages, Bulk, CommError, ExposedMemory, Handlers, Part, Pending, Rank, Result,
};

mod arriving;
mod barrier;
mod begun;
mod eager;
mod engine;
mod entries;
mod handlers;
mod inline;
mod lane;
mod mail;
mod outgoing;
mod slots;
mod steps;
mod tuning;
mod way;
mod words;

pub use begun::MessageId;
pub use handlers::add_handlers;
pub use inline::INLINE;
pub use mail::{HoldsMail, Mail};
pub use tuning::Tuning;
pub use way::Way;

use eager::InSlot;

/// Message passing of one rank, with the memory that its messages come from and go to.
///
/// A peer is another rank: a rank sends nothing to itself. `S` is the state of all handlers: a
/// [`Mail`], or a type that holds one.
///
/// ```
/// # use std::time::Duration;
/// # use bandgap_comm::passing::{Passing, Tuning};
/// # use bandgap_comm::{Bulk, DeadlineWatch, Part, Waiting};
/// fn first_rank(endpoint: impl Bulk) -> Result<(), bandgap_comm::CommError> {
///     let watch = DeadlineWatch(Duration::from_secs(10));
///     let mut ranks = Passing::new(endpoint, 0, &Tuning::DEFAULT, Waiting::Spin, watch)?;
///     ranks.resize(2048);
///     let (question, answer) = (Part::new(0, 12), Part::new(1024, 4));
///     ranks.memory_mut()[question.range()].copy_from_slice(b"how are you?");
///     let pending = ranks.irecv(1, 7, answer)?;
///     ranks.send(1, 7, question)?;
///     ranks.wait(pending)?;
///     println!("rank 1 says {:?}", &ranks.memory()[answer.range()]);
///     ranks.settle()
/// }
/// ```
#[derive(Debug)]
pub struct Passing<E, W, S = Mail> {
    am: ActiveMessages<E, S, W>,
}

impl<E: Bulk, W: Watch> Passing<E, W> {
    /// Message passing over `endpoint`. The slots are in its exposed memory from offset `at` on.
    /// The rank's memory is initially empty.
    ///
    /// # Errors
    /// [`CommError::NotExposed`]: the exposed memory is too short for [`Tuning::memory`].
    pub fn new(
        endpoint: E,
        at: usize,
        tuning: &Tuning,
        waiting: Waiting,
        watch: W,
    ) -> Result<Self> {
        let mut handlers = Handlers::default();
        let first = add_handlers(&mut handlers);
        let (rank, size) = (endpoint.rank(), endpoint.size());
        let mail = Mail::new(rank, size, endpoint.exposed(), Some((at, tuning)), first)?;
        Ok(Self::over(ActiveMessages::new(endpoint, handlers, mail, waiting, watch)))
    }
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Message passing over Active Messages that have its handlers ([`add_handlers`]) and its
    /// state. The rank's memory is initially empty.
    pub fn over(mut am: ActiveMessages<E, S, W>) -> Self {
        let (endpoint, state) = am.parts();
        state.mail_mut().lanes.iter_mut().for_each(|lane| lane.slots.migrate(endpoint.shares()));
        state.mail_mut().memory = ExposedMemory::default();
        Self { am }
    }
}

impl<E, W, S> Passing<E, W, S> {
    /// The Active Messages below. Requests may be sent there only while no send is in progress: a
    /// transport takes no request in the middle of a store.
    #[inline(always)]
    pub fn active(&mut self) -> &mut ActiveMessages<E, S, W> {
        &mut self.am
    }

    /// The Active Messages below, read-only.
    #[inline(always)]
    pub fn as_active(&self) -> &ActiveMessages<E, S, W> {
        &self.am
    }
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// This rank's memory.
    #[inline(always)]
    pub fn memory(&self) -> &[u8] {
        &self.mail().memory
    }

    /// This rank's memory, writable. A part must not change while a message from or into it is on
    /// its way; otherwise the message has wrong bytes.
    #[inline(always)]
    pub fn memory_mut(&mut self) -> &mut [u8] {
        &mut self.mail_mut().memory
    }

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

    /// Sets the length of the memory for this rank's messages. Existing bytes keep their values,
    /// and new ones are 0.
    ///
    /// # Panics
    /// A send or a receive is in progress.
    pub fn resize(&mut self, bytes: usize) {
        let mail = self.mail();
        let idle = mail.sends.is_empty() && mail.receives.iter().all(|(_, of)| of.kept.is_some());
        assert!(idle, "memory must not change while a message is on its way");
        self.mail_mut().memory.resize(bytes);
    }

    /// Sets the way of long messages from now on.
    ///
    /// # Errors
    /// [`CommError::SingleCopy`]: this rank cannot use that way, and uses pieces.
    pub fn set_way(&mut self, way: Way) -> Result<()> {
        let possible = match way {
            Way::Pieces => Ok(()),
            Way::Single { .. } => self
                .am
                .endpoint()
                .single_copy()
                .map_err(|reason| CommError::SingleCopy { reason: reason.to_owned() }),
        };
        self.mail_mut().least = if possible.is_ok() { way.least() } else { Way::Pieces.least() };
        possible
    }

    #[inline(always)]
    fn mail(&self) -> &Mail {
        self.am.state().mail()
    }

    #[inline(always)]
    fn mail_mut(&mut self) -> &mut Mail {
        self.am.state_mut().mail_mut()
    }

    /// Sends `from` to `peer`, and returns when the part may change. The message may then still be
    /// on its way.
    ///
    /// # Errors
    /// The part is not in memory, `peer` is not another rank of the run, a peer is gone or sent
    /// garbage, or a deadline passed.
    #[inline(always)]
    pub fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<()> {
        if from.len <= INLINE && self.send_at_once(peer, tag, from)? {
            return Ok(());
        }
        self.send_later(peer, tag, from)
    }

    #[inline(never)]
    fn send_later(&mut self, peer: Rank, tag: u32, from: Part) -> Result<()> {
        let sent = self.begin_send(peer, tag, from)?;
        self.wait(Pending(sent))
    }

    /// Receives the message from `peer` with tag `tag` into `into`.
    ///
    /// # Errors
    /// As [`Passing::send`]; [`CommError::OtherLength`] if the message is not as long as `into`.
    #[inline(always)]
    pub fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<()> {
        let envelope = self.envelope(peer, tag)?;
        into.of(self.memory())?;
        self.recv_checked(envelope, into)
    }

    /// Sends `from` to `peer` and receives a message with the same tag from it into `into`, both at
    /// the same time.
    ///
    /// # Errors
    /// As [`Passing::send`] and [`Passing::recv`]; or the parts overlap.
    #[inline]
    pub fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<()> {
        let envelope = self.envelope(peer, tag)?;
        into.of(self.memory())?;
        from.apart(into)?;
        if self.send_at_once(peer, tag, from)? {
            return self.recv_checked(envelope, into);
        }
        self.exchange_later(peer, tag, from, into)
    }

    #[inline(never)]
    fn exchange_later(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<()> {
        let envelope = self.envelope(peer, tag)?;
        let sent = self.send_in_slot(peer, tag, from)?;
        if sent == InSlot::Done {
            return self.recv_checked(envelope, into);
        }
        let receive = self.begin_recv(envelope, into)?;
        let send = match sent {
            InSlot::Begun(key) => key,
            _ => self.queue_send(envelope, from)?,
        };
        self.wait_until("both messages of an exchange", |mail| {
            mail.has_sent(send) && mail.has_received(receive)
        })?;
        self.end_send(send)?;
        self.end_recv(receive, "a message")
    }

    /// Handles arrivals and makes progress on messages, without waiting. A rank that computes for
    /// long calls this in between, since its peers may wait for it.
    ///
    /// # Errors
    /// A peer is gone or sent garbage.
    #[inline]
    pub fn progress(&mut self) -> Result<()> {
        self.am.poll()?;
        if self.mail().attention {
            self.advance()?;
        }
        Ok(())
    }

    /// Waits until the transport has taken every message sent, and this rank owes its peers
    /// nothing. A rank calls this before it makes no calls for a while or for good.
    ///
    /// # Errors
    /// As [`Passing::send`], about earlier messages.
    pub fn settle(&mut self) -> Result<()> {
        self.wait_until("room for what is to be sent", Mail::has_settled)?;
        self.am.settle()
    }
}

//! What a library of tagged messages must do.

use bandgap_comm::collectives::Collective;
use bandgap_comm::{CommError, MAX_FRAME, Pending, Rank, Result};

use crate::Kept;

/// Messages that match only others of their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Frames of a link, and payloads.
    Frames,
    /// Messages of programs.
    Programs,
    /// Messages of collectives that are made of messages.
    Collectives,
}

/// The other end of a message: the channel, the rank, the tag, which has at most 31 bits.
pub type Place<T> = (<T as Tagged>::Channel, Rank, u32);

/// A library of tagged messages, with all ranks of the run. One rank sees it from one thread.
///
/// Messages with the same sender, channel and tag arrive in the order of their sends. A message must be received by a
/// receive of the same length.
pub trait Tagged: 'static {
    /// Whether it has collectives of its own. Otherwise nobody calls them.
    const COLLECTIVES: bool = false;
    /// Tells messages of one [`Traffic`] from others.
    type Channel: Copy;
    /// A message in flight.
    type Request;

    /// This process's rank.
    fn rank(&self) -> Rank;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// The channel of such messages among the first `ranks` ranks, each of which must call it.
    ///
    /// # Errors
    /// The library refused.
    fn channel(&self, of: Traffic, ranks: usize) -> Result<Self::Channel>;

    /// Begins a send.
    ///
    /// # Errors
    /// The library refused.
    fn begin_send(&self, from: Kept, to: Place<Self>) -> Result<Self::Request>;

    /// Begins a receive.
    ///
    /// # Errors
    /// The library refused.
    fn begin_recv(&self, into: Kept, of: Place<Self>) -> Result<Self::Request>;

    /// Whether a message has ended: the bytes of a send may change, or those of a receive are there. If it has, the
    /// request must not be used again.
    ///
    /// # Errors
    /// The library refused, or a peer is gone.
    fn ended(&self, request: &mut Self::Request) -> Result<bool>;

    /// Takes the next message with this tag from any rank, of at most [`MAX_FRAME`] bytes, if one is there. Returns its
    /// sender, and its bytes with zeros behind them.
    ///
    /// # Errors
    /// The library refused.
    fn frame(&self, on: Self::Channel, tag: u32) -> Result<Option<(Rank, [u8; MAX_FRAME])>>;

    /// Waits until a message has ended.
    ///
    /// # Errors
    /// As [`Tagged::ended`], or the wait is over.
    fn wait(&self, request: Self::Request) -> Result<()>;

    /// Waits as [`Tagged::wait`] for all of them, and leaves none.
    ///
    /// # Errors
    /// As [`Tagged::wait`].
    #[inline(always)]
    fn wait_all(&self, pending: &mut Vec<Pending<Self::Request>>) -> Result<()> {
        pending.drain(..).try_for_each(|pending| self.wait(pending.0))
    }

    /// Sends; returns once the bytes may change.
    ///
    /// # Errors
    /// As [`Tagged::wait`].
    #[inline(always)]
    fn send(&self, from: Kept, to: Place<Self>) -> Result<()> {
        self.wait(self.begin_send(from, to)?)
    }

    /// Receives.
    ///
    /// # Errors
    /// As [`Tagged::wait`].
    #[inline(always)]
    fn recv(&self, into: Kept, of: Place<Self>) -> Result<()> {
        self.wait(self.begin_recv(into, of)?)
    }

    /// Sends to a rank and receives from it, both at the same time. The bytes do not overlap.
    ///
    /// # Errors
    /// As [`Tagged::wait`].
    #[inline(always)]
    fn exchange(&self, from: Kept, into: Kept, with: Place<Self>) -> Result<()> {
        let receive = self.begin_recv(into, with)?;
        self.send(from, with)?;
        self.wait(receive)
    }

    /// Copies the bytes of `root` to every member of the channel.
    ///
    /// # Errors
    /// The library refused.
    fn broadcast(&self, _on: Self::Channel, _root: Rank, _bytes: Kept) -> Result<()> {
        Err(none())
    }

    /// Adds up the aligned doubles in `from` over all members, and gives every member the sum in `into`, which is of the
    /// same length and apart from it.
    ///
    /// # Errors
    /// The library refused.
    fn sum(&self, _on: Self::Channel, _from: Kept, _into: Kept) -> Result<()> {
        Err(none())
    }

    /// An operation of `members` ranks, as [`bandgap_comm::Comm::collective`] describes it, on aligned doubles.
    ///
    /// # Errors
    /// The library refused; [`CommError::Unavailable`] if it does not have it.
    fn collective(
        &self,
        _on: Self::Channel,
        _of: Collective,
        _root: Rank,
        _members: usize,
        _from: Kept,
        _into: Kept,
    ) -> Result<()> {
        Err(none())
    }

    /// Waits until every member has called it.
    ///
    /// # Errors
    /// The library refused.
    fn barrier(&self, _on: Self::Channel) -> Result<()> {
        Err(none())
    }
}

#[cold]
fn none() -> CommError {
    CommError::Unavailable { reason: "the library has no collectives".to_owned() }
}

//! The interface of a transport of requests and replies.

use std::time::Duration;

use crate::{Message, NoHandler, Rank, Result};

/// Answer to an attempt to send. Being busy is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Posted {
    /// Handed to the transport, which will deliver it.
    Yes,
    /// There is no room for that peer: make progress, then try again. Nothing was sent.
    Busy,
}

/// A transport of requests and replies between the ranks of a run.
///
/// Guarantees:
/// * Every accepted request is delivered exactly once. Requests of one rank to another arrive in
///   order.
/// * Every request completes at its sender exactly once, with or without a reply.
/// * [`Endpoint::try_request`] never waits: it answers [`Posted::Busy`].
/// * A reply always finds room, so that handlers that reply cannot deadlock.
///
/// After an error the endpoint is broken: later calls may fail at once.
pub trait Endpoint: 'static {
    /// This process's rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Capacity: the number of outstanding requests to one peer that flow control allows.
    fn capacity(&self) -> usize;

    /// Sends a request to `peer`, if there is room. `peer` is another rank, below
    /// [`Endpoint::size`].
    ///
    /// # Errors
    /// The connection to the peer is gone or broken.
    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted>;

    /// Delivers what has arrived and sends what is pending, without waiting. Returns the number of
    /// requests and completions delivered.
    ///
    /// # Errors
    /// A peer is gone, or sent something invalid.
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize>;

    /// Whether accepted messages may need further progress of this rank to arrive, even if nothing
    /// is [unsent](Endpoint::unsent): because they can be lost, or because a library holds them
    /// until the peer takes them. Such a rank makes progress now and then while it waits for
    /// anything else.
    fn tended(&self) -> bool {
        false
    }

    /// Number of requests that have not completed.
    fn outstanding(&self) -> usize;

    /// Number of replies and completions that [`Endpoint::progress`] has yet to send to peers. If a
    /// rank stops making progress before this is 0, peers wait in vain.
    fn unsent(&self) -> usize {
        0
    }

    /// Whether ranks can notify each other without a request, by [`Endpoint::signal`],
    /// [`Endpoint::signalled`] and [`Endpoint::take_signal`]; the same on every rank.
    fn signals(&self) -> bool {
        false
    }

    /// Gives `peer`, another rank of the run, a signal. It never waits, and is not ordered with
    /// requests. A peer that sees it also sees this rank's earlier writes to memory that both map.
    fn signal(&mut self, _peer: Rank) {}

    /// The number of signals from `peer`, another rank of the run, that were not yet taken.
    fn signalled(&self, _peer: Rank) -> u64 {
        0
    }

    /// Takes a signal from `peer`, another rank of the run. Returns whether there was one.
    fn take_signal(&mut self, _peer: Rank) -> bool {
        false
    }

    /// Sleeps until something may have arrived, but at most for `timeout`. Transports that cannot
    /// sleep ([`crate::Can::block`]) return at once.
    ///
    /// # Errors
    /// The operating system refused to wait.
    fn block(&mut self, _timeout: Duration) -> Result<()> {
        Ok(())
    }
}

/// Asks [`Deliver::room`] for the bytes of a request that has not come.
pub const AHEAD: usize = usize::MAX;

/// The receiver of what an [`Endpoint`] delivers.
pub trait Deliver {
    /// A request arrived from `from`. The returned message is sent back as its reply; `None`
    /// completes the request without a reply.
    ///
    /// # Errors
    /// The message names an unknown handler. [`Endpoint::progress`] adds whose message it was.
    fn request(&mut self, from: Rank, message: Message) -> Result<Option<&Message>, NoHandler>;
    /// The reply to one of this rank's requests arrived.
    ///
    /// # Errors
    /// As [`Deliver::request`].
    fn reply(&mut self, from: Rank, message: Message) -> Result<(), NoHandler>;
    /// Memory for the bytes that follow the last request from `from` ([`crate::Bulk::try_carry`]),
    /// from the `done`th on. If all have arrived, it is empty, and the call ends their arrival.
    /// `None` if nobody expects any.
    ///
    /// If `done` is [`AHEAD`]: memory where the next request's bytes probably go; the same
    /// until such a request has come, and then `None`.
    fn room(&mut self, _from: Rank, _done: usize) -> Option<&mut [u8]> {
        None
    }
}

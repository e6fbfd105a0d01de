//! What a transport of requests and replies does.

use std::time::Duration;

use crate::{Message, NoHandler, Rank, Result};

/// Answer to an attempt to send: being busy is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Posted {
    /// Handed to the transport, which will deliver it.
    Yes,
    /// No room for that peer: make progress, then try again. Nothing was sent.
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
    /// Requests to one peer that may be outstanding: the capacity that flow control allows.
    fn capacity(&self) -> usize;

    /// Sends a request to `peer`, if there is room. `peer` is another rank, below
    /// [`Endpoint::size`].
    ///
    /// # Errors
    /// The connection to the peer is gone or broken.
    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted>;

    /// Delivers what has arrived and moves on what waits to be sent. Never waits. Returns the
    /// number of requests and completions delivered.
    ///
    /// # Errors
    /// A peer is gone or sent what no peer may send.
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize>;

    /// Whether what was accepted may need further progress of this rank to arrive, even once nothing is
    /// [unsent](Endpoint::unsent): where it can be lost, or is with a library until the peer takes it. Such a rank makes
    /// progress now and then while it waits for something else that a peer does after a message.
    fn tended(&self) -> bool {
        false
    }

    /// Requests sent that have not completed.
    fn outstanding(&self) -> usize;

    /// Replies and completions that this rank owes its peers, and that [`Endpoint::progress`] has
    /// yet to send. If a rank stops making progress before this is 0, peers wait in vain.
    fn unsent(&self) -> usize {
        0
    }

    /// Whether ranks of this transport can tell each other that they came to a point, without a
    /// request: [`Endpoint::signal`], [`Endpoint::signalled`], [`Endpoint::take_signal`]. The same on
    /// every rank.
    fn signals(&self) -> bool {
        false
    }

    /// Gives `peer`, another rank of the run, a signal. It never waits, and is not in order with
    /// requests. Who sees it also sees what this rank did before in memory that both map.
    fn signal(&mut self, _peer: Rank) {}

    /// The signals of `peer`, another rank of the run, that were not taken.
    fn signalled(&self, _peer: Rank) -> u64 {
        0
    }

    /// Takes a signal of `peer`, another rank of the run, if there is one. Says whether there was.
    fn take_signal(&mut self, _peer: Rank) -> bool {
        false
    }

    /// Sleeps until something may have arrived, at most for `timeout`. Transports that cannot sleep
    /// ([`crate::Can::block`]) return at once.
    ///
    /// # Errors
    /// The operating system refused to wait.
    fn block(&mut self, _timeout: Duration) -> Result<()> {
        Ok(())
    }
}

/// Where an [`Endpoint`] delivers.
pub trait Deliver {
    /// A request arrived from `from`. The message returned is sent back as its reply; `None`
    /// completes the request without one.
    ///
    /// # Errors
    /// The message names an unknown handler. [`Endpoint::progress`] adds whose message it was.
    fn request(&mut self, from: Rank, message: Message) -> Result<Option<&Message>, NoHandler>;
    /// The reply to one of this rank's requests arrived.
    ///
    /// # Errors
    /// As [`Deliver::request`].
    fn reply(&mut self, from: Rank, message: Message) -> Result<(), NoHandler>;
}

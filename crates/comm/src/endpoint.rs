//! The contracts of a transport.

use std::time::Duration;

use crate::{CommError, Frame, Message, NoHandler, Rank};

/// Answer to an attempt to send: being busy is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Posted {
    /// Handed to the transport, which will deliver it.
    Yes,
    /// No room toward that peer: make progress, then try again. Nothing was sent.
    Busy,
}

/// What a transport offers; tests and reports select by this, never by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Requests that may be outstanding toward one peer: the capacity that flow control allows.
    pub capacity: usize,
    /// Whether [`Endpoint::block`] sleeps until something arrives, rather than returning at once.
    pub blocks: bool,
}

/// A transport of requests and replies between the ranks of a run.
///
/// Guarantees: every accepted request is delivered exactly once, requests of one rank to another
/// in order; every request completes at its sender exactly once, with or without a reply;
/// [`Endpoint::try_request`] answers [`Posted::Busy`] rather than wait. A reply always finds room,
/// so that a handler's reply cannot deadlock.
///
/// After an error the endpoint is poisoned: later calls may fail at once.
pub trait Endpoint {
    /// This process's rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// What this transport offers.
    fn capabilities(&self) -> Capabilities;

    /// Sends a request to `peer`, if there is room. `peer` is another rank, below
    /// [`Endpoint::size`].
    ///
    /// # Errors
    /// The connection to the peer is gone or broken.
    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted, CommError>;

    /// Delivers what has arrived and moves on what waits to be sent. Never waits. Returns the
    /// number of requests and completions delivered.
    ///
    /// # Errors
    /// A peer is gone or sent what no peer may send.
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError>;

    /// Requests sent that have not completed.
    fn outstanding(&self) -> usize;

    /// What this rank owes its peers and [`Endpoint::progress`] has yet to send: replies and
    /// completions. A rank that stops making progress while this is not 0 leaves peers waiting.
    fn unsent(&self) -> usize {
        0
    }

    /// Sleeps until something can have arrived, at most `timeout`. Transports that cannot sleep
    /// ([`Capabilities::blocks`]) return at once.
    ///
    /// # Errors
    /// The operating system refused to wait.
    fn block(&mut self, _timeout: Duration) -> Result<(), CommError> {
        Ok(())
    }
}

/// Where an [`Endpoint`] delivers.
pub trait Deliver {
    /// A request arrived from `from`; what is returned is sent back as its reply. `None`
    /// completes the request without a reply.
    ///
    /// # Errors
    /// The message's handler is unknown; [`Endpoint::progress`] says whose message it was.
    fn request(&mut self, from: Rank, message: Message) -> Result<Option<&Message>, NoHandler>;
    /// The reply to one of this rank's requests arrived.
    ///
    /// # Errors
    /// As [`Deliver::request`].
    fn reply(&mut self, from: Rank, message: Message) -> Result<(), NoHandler>;
}

/// A transport that moves [`Frame`]s and nothing more; [`crate::Credited`] adds flow control and
/// completion, and makes it an [`Endpoint`].
///
/// Guarantees: frames accepted are delivered once, in order for each pair of ranks.
pub trait Link {
    /// This process's rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Whether [`Link::block`] sleeps.
    fn blocks(&self) -> bool {
        false
    }
    /// Sends one frame to `peer`, whole or not at all. A frame accepted while the channel is full
    /// midway is finished by [`Link::receive`].
    ///
    /// # Errors
    /// The connection to the peer is gone or broken.
    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted, CommError>;
    /// Delivers the frames that have arrived, and pushes out what [`Link::try_send`] left.
    /// Returns their number. Never waits.
    ///
    /// # Errors
    /// A peer is gone or sent what is no frame.
    fn receive<F: FnMut(Rank, Frame)>(&mut self, deliver: F) -> Result<usize, CommError>;
    /// Frames accepted that [`Link::receive`] has yet to push out.
    fn unsent(&self) -> usize {
        0
    }
    /// As [`Endpoint::block`].
    ///
    /// # Errors
    /// The operating system refused to wait.
    fn block(&mut self, _timeout: Duration) -> Result<(), CommError> {
        Ok(())
    }
}

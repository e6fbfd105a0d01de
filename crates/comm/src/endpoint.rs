//! The contracts of a transport.

use std::time::Duration;

use crate::{CommError, Frame, Message, NoHandler, Rank, Source};

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

/// A transport that moves [`Frame`]s, and bytes into the memory that peers expose; [`crate::Credited`]
/// adds flow control, completion and gets, and makes it an [`Endpoint`] and a [`crate::Bulk`].
///
/// Guarantees: frames accepted are delivered once, in order for each pair of ranks, and those with a
/// payload ([`Frame::has_payload`]) once the payload is in the exposed memory.
pub trait Link {
    /// This process's rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Whether [`Link::block`] sleeps.
    fn blocks(&self) -> bool {
        false
    }
    /// The memory that this rank exposes: as many bytes on every rank, none where a link was made
    /// without.
    fn exposed(&self) -> &[u8];
    /// As [`Link::exposed`], to write.
    fn exposed_mut(&mut self) -> &mut [u8];
    /// Sends one frame without payload to `peer`, whole or not at all. A frame accepted while the
    /// channel is full midway is finished by [`Link::receive`]. Busy as well while a payload toward
    /// that peer is on its way.
    ///
    /// # Errors
    /// The connection to the peer is gone or broken.
    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted, CommError>;
    /// Moves on a frame with its payload `from`, whose bytes go from where they are to the channel.
    /// Adds to `done` what was taken of the payload. [`Posted::Yes`] when all was, and the source may
    /// change; [`Posted::Busy`] when the call is to be repeated with the same arguments, whether or
    /// not something was taken, after [`Link::receive`]. One call takes a limited number of bytes, so
    /// that this rank receives in between.
    ///
    /// Of each [`crate::FrameKind`] one payload at a time may be on its way to a peer; that of another
    /// kind is Busy meanwhile.
    ///
    /// # Errors
    /// As [`Link::try_send`]; or the source is not exposed.
    fn try_write(
        &mut self,
        peer: Rank,
        frame: &Frame,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted, CommError>;
    /// Delivers the frames that have arrived, puts payloads into the exposed memory as they arrive,
    /// and pushes out what [`Link::try_send`] left, without waiting, and a limited number of bytes
    /// of each peer. Returns the number of frames.
    ///
    /// # Errors
    /// A peer is gone or sent what is no frame, or a payload for memory that is not exposed.
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

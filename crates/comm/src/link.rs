//! What a transport of frames and payloads does.

use std::time::Duration;

use crate::{Frame, Posted, Rank, Result, Source};

/// A transport that moves [`Frame`]s, and bytes into the memory that peers expose.
/// [`crate::Credited`] adds flow control, completion and gets, and so makes it an
/// [`crate::Endpoint`] and a [`crate::Bulk`].
///
/// Guarantees: every accepted frame is delivered once, and frames of one rank to another in order.
/// A frame with a payload ([`Frame::has_payload`]) is delivered when the payload is in the exposed
/// memory.
pub trait Link: 'static {
    /// This process's rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// The memory that this rank exposes: the same number of bytes on every rank, 0 if the link was
    /// made without.
    fn exposed(&self) -> &[u8];
    /// As [`Link::exposed`], to write.
    fn exposed_mut(&mut self) -> &mut [u8];
    /// Sends one frame without payload to `peer`, whole or not at all. If the channel takes only
    /// the beginning of an accepted frame, [`Link::receive`] sends the rest. Busy also while a
    /// payload to that peer is on its way.
    ///
    /// # Errors
    /// The connection to the peer is gone or broken.
    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted>;
    /// Moves on a frame with its payload `from`. Adds the number of bytes taken to `done`.
    /// [`Posted::Yes`] when all bytes are taken and the source may change. After [`Posted::Busy`],
    /// whether or not bytes were taken, the caller repeats the call with the same arguments after
    /// [`Link::receive`]. One call takes a limited number of bytes, so that this rank receives in
    /// between.
    ///
    /// One payload at a time may be on its way to a peer. Meanwhile one of another
    /// [`crate::FrameKind`] is Busy.
    ///
    /// # Errors
    /// As [`Link::try_send`]; or the source is not exposed.
    fn try_write(
        &mut self,
        peer: Rank,
        frame: &Frame,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted>;
    /// Moves on a frame with its payload, which is not empty, and after it the frame `then`, as
    /// [`Link::try_write`] and then [`Link::try_send`]. [`Posted::Yes`] when both are taken. After
    /// [`Posted::Busy`] the caller repeats the call; but once `done` is the number of bytes, only
    /// `then` is missing, which goes by itself.
    ///
    /// # Errors
    /// As [`Link::try_write`].
    fn try_write_then(
        &mut self,
        peer: Rank,
        frame: &Frame,
        from: Source<'_>,
        done: &mut usize,
        then: &Frame,
    ) -> Result<Posted> {
        match self.try_write(peer, frame, from, done)? {
            Posted::Yes => self.try_send(peer, then),
            Posted::Busy => Ok(Posted::Busy),
        }
    }
    /// Delivers the frames that have arrived, puts payloads into the exposed memory, and pushes out
    /// what [`Link::try_send`] left. Never waits, and takes a limited number of bytes from each
    /// peer. Returns the number of frames.
    ///
    /// # Errors
    /// A peer is gone, sent bytes that are no frame, or a payload for memory that is not exposed.
    fn receive<F: FnMut(Rank, Frame)>(&mut self, deliver: F) -> Result<usize>;
    /// As [`crate::Endpoint::tended`].
    fn tended(&self) -> bool {
        false
    }
    /// Frames accepted that [`Link::receive`] has yet to push out.
    fn unsent(&self) -> usize {
        0
    }
    /// As [`crate::Endpoint::block`].
    ///
    /// # Errors
    /// The operating system refused to wait.
    fn block(&mut self, _timeout: Duration) -> Result<()> {
        Ok(())
    }
}

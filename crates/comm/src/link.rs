//! The contract of a transport that moves frames and payloads.

use std::time::Duration;

use crate::{Frame, Posted, Rank, Result, Source};

/// The receiver of what a [`Link`] delivers.
pub trait Frames {
    /// A frame has arrived from a peer, and its payload.
    fn frame(&mut self, from: Rank, frame: Frame);
    /// As [`crate::Deliver::room`].
    fn room(&mut self, _from: Rank, _done: usize) -> Option<&mut [u8]> {
        None
    }
}

impl<F: FnMut(Rank, Frame)> Frames for F {
    #[inline(always)]
    fn frame(&mut self, from: Rank, frame: Frame) {
        self(from, frame);
    }
}

/// A transport that moves [`Frame`]s, and bytes into the memory that peers expose.
/// [`crate::Credited`] adds flow control, completion and gets, which makes it an
/// [`crate::Endpoint`] and a [`crate::Bulk`].
///
/// Guarantees: every accepted frame is delivered once, and frames between two ranks are delivered
/// in order. A frame with a payload ([`Frame::has_payload`]) is delivered when the payload is in
/// the exposed memory.
pub trait Link: 'static {
    /// This process's rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// The memory that this rank exposes: the same number of bytes on every rank, 0 if the link was
    /// made without exposed memory.
    fn exposed(&self) -> &[u8];
    /// As [`Link::exposed`], writable.
    fn exposed_mut(&mut self) -> &mut [u8];
    /// Sends one frame without payload to `peer`, whole or not at all. If the channel takes only
    /// the beginning of an accepted frame, [`Link::receive`] sends the rest. The answer is Busy
    /// also while a payload to that peer is on its way.
    ///
    /// # Errors
    /// The connection to the peer is gone or broken.
    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted>;
    /// Continues to send a frame with its payload `from`, and adds the number of bytes taken to
    /// `done`. Returns [`Posted::Yes`] when all bytes are taken and the source may change. After
    /// [`Posted::Busy`], even if bytes were taken, the caller calls [`Link::receive`] and repeats
    /// the call with the same arguments. One call takes a limited number of bytes, so that this
    /// rank receives in between.
    ///
    /// Of two `frames` the last has the payload; a link that carries no bytes in requests
    /// ([`Frames::room`]) need not take two.
    ///
    /// `then` is a frame to send after a payload that is not empty, as with [`Link::try_send`].
    /// Then Yes means that it is taken too. If `done` is the number of bytes after Busy, only `then`
    /// remains, and the caller sends it with [`Link::try_send`].
    ///
    /// Only one payload at a time can be on its way to a peer. Meanwhile the answer for one of
    /// another [`crate::FrameKind`] is Busy.
    ///
    /// # Errors
    /// As [`Link::try_send`]; or the source is not exposed, or the link does not take two frames.
    fn try_write(
        &mut self,
        peer: Rank,
        frames: &[&Frame],
        from: Source<'_>,
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted>;
    /// Delivers the frames that have arrived, puts payloads into the exposed memory, and sends what
    /// [`Link::try_send`] left. Never waits, and takes a limited number of bytes from each peer.
    /// Returns the number of frames.
    ///
    /// # Errors
    /// A peer is gone, sent bytes that are not a frame, or sent a payload for memory that is not
    /// exposed.
    fn receive<F: Frames>(&mut self, frames: F) -> Result<usize>;
    /// As [`crate::Endpoint::tended`].
    fn tended(&self) -> bool {
        false
    }
    /// Accepted frames that have not left.
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

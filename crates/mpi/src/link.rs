//! Frames over MPI's messages.
//!
//! Each frame is one message. A payload follows its frame as messages of at most [`PIECE`] bytes,
//! which go from a buffer of the sender straight into the exposed memory of the receiver. Sends are
//! not waited for, so they come from buffers that stay valid.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::ops::Range;
use std::rc::Rc;

use bandgap_comm::{
    CommError, ExposedMemory, Frame, FrameKind, Frames, Link, MAX_FRAME, Posted, Rank, Result,
    Source, check_peer,
};

use crate::api::Address;
use crate::{Handle, MpiError, World};

/// Maximum number of frames in flight to one peer.
const FRAMES: usize = 16;
/// Maximum number of pieces of a payload in flight to one peer, and of pieces that one call begins
/// to send.
const PIECES: usize = 4;
/// Bytes of a piece.
const PIECE: usize = 64 << 10;

/// The tag of frames.
const FRAME: c_int = 0;
/// The tag of pieces.
const PAYLOAD: c_int = 1;

/// Sends in flight, each of up to `each` bytes. They end in the order in which they began.
struct Outgoing {
    buffers: Vec<u8>,
    each: usize,
    requests: Vec<Handle>,
    begun: usize,
    ended: usize,
}

impl Outgoing {
    fn new(world: &World, messages: usize, each: usize) -> Self {
        let requests = vec![world.api.world; messages];
        Self { buffers: vec![0; messages * each], each, requests, begun: 0, ended: 0 }
    }

    #[inline(always)]
    fn under_way(&self) -> usize {
        self.begun - self.ended
    }

    /// Records which sends have ended. Returns whether all are still in flight.
    fn look(&mut self, world: &World) -> Result<bool, MpiError> {
        while self.under_way() > 0 {
            let request = self.ended % self.requests.len();
            if !ended(world, &mut self.requests[request])? {
                break;
            }
            self.ended += 1;
        }
        Ok(self.under_way() == self.requests.len())
    }

    /// Begins to send `bytes`, which must fit into a buffer, if a buffer is free.
    #[inline(always)]
    fn begin(&mut self, world: &World, place: Address, bytes: &[u8]) -> Result<Posted, MpiError> {
        if self.under_way() == self.requests.len() && self.look(world)? {
            return Ok(Posted::Busy);
        }
        let request = self.begun % self.requests.len();
        let buffer = &mut self.buffers[request * self.each..][..bytes.len()];
        buffer.copy_from_slice(bytes);
        // SAFETY: the buffer stays valid until the request has ended: it is not reused before, and
        // `MpiLink` leaks it if dropped.
        self.requests[request] = unsafe { world.api.begin_send(buffer, place)? };
        self.begun += 1;
        Ok(Posted::Yes)
    }
}

/// Whether a request has ended. If it has, it must not be used again.
#[inline(always)]
fn ended(world: &World, request: &mut Handle) -> Result<bool, MpiError> {
    let mut ended = 0;
    // SAFETY: a request of this library that has not ended before.
    unsafe { world.api.test(request, &mut ended, world.api.ignore)? };
    Ok(ended != 0)
}

/// Callback for received frames.
type Deliver<'a> = &'a mut dyn FnMut(Rank, Frame);

/// A payload that is arriving.
struct Arriving {
    frame: Frame,
    /// The part of the exposed memory that is still to come. It begins with the piece that is being
    /// received.
    rest: Range<usize>,
    request: Handle,
}

/// The state of the traffic between this rank and a peer.
struct Way {
    frames: Outgoing,
    pieces: Outgoing,
    /// The kind of frame whose payload is being sent to the peer.
    writing: Option<FrameKind>,
    arriving: Option<Arriving>,
    /// Frames that came after the payload that is arriving.
    behind: VecDeque<Frame>,
}

/// A rank's link to all others, over an MPI.
///
/// [`Link::receive`] takes one frame per call: a second look would cost a lone message more than it
/// saves for a series of them. The link cannot sleep, and does not notice when a peer is gone.
pub struct MpiLink {
    world: Rc<World>,
    comm: Handle,
    /// By peer; this rank's own entry is unused.
    ways: Vec<Way>,
    memory: ExposedMemory,
    /// Payloads that are arriving.
    arriving: usize,
    /// Whether a send may still be in flight.
    sending: bool,
}

impl Drop for MpiLink {
    fn drop(&mut self) {
        if self.arriving + self.unsent() > 0 {
            // MPI may still use them.
            std::mem::forget((std::mem::take(&mut self.memory), std::mem::take(&mut self.ways)));
        }
    }
}

impl MpiLink {
    /// A link among all ranks, each of which exposes this many bytes; a collective call.
    ///
    /// # Errors
    /// MPI refused.
    pub fn new(world: Rc<World>, exposed: usize) -> Result<Self> {
        let comm = world.api.dup(world.api.world)?;
        let way = |_| Way {
            frames: Outgoing::new(&world, FRAMES, MAX_FRAME),
            pieces: Outgoing::new(&world, PIECES, PIECE),
            writing: None,
            arriving: None,
            behind: VecDeque::new(),
        };
        let ways = (0..world.size).map(way).collect();
        let memory = ExposedMemory::new(exposed);
        Ok(Self { world, comm, ways, memory, arriving: 0, sending: false })
    }

    /// Takes a frame from `from`. Returns the number of frames delivered: 0 if its payload has yet
    /// to arrive.
    #[inline(always)]
    fn accept(&mut self, from: Rank, frame: Frame, deliver: Deliver<'_>) -> Result<usize> {
        if !frame.has_payload() {
            deliver(from, frame);
            return Ok(1);
        }
        let rest = frame.target(self.memory.len()).map_err(|error| garbage(from, &error))?;
        self.arrive(from, Arriving { frame, rest, request: self.comm }, deliver)
    }

    /// Begins to receive the next piece of a payload, or delivers its frame if no piece is left.
    fn arrive(
        &mut self,
        from: Rank,
        mut arriving: Arriving,
        deliver: Deliver<'_>,
    ) -> Result<usize> {
        let rest = arriving.rest.clone();
        if rest.is_empty() {
            deliver(from, arriving.frame);
            return Ok(1);
        }
        let piece = &mut self.memory[rest.start..][..rest.len().min(PIECE)];
        let place = (self.comm, from as c_int, PAYLOAD);
        // SAFETY: memory keeps its length, and is leaked if dropped while a payload arrives.
        // References to it last as long as a call; `Bulk` forbids reading or writing these bytes
        // meanwhile.
        arriving.request = unsafe { self.world.api.begin_recv(piece, place)? };
        self.ways[from].arriving = Some(arriving);
        self.arriving += 1;
        Ok(0)
    }

    /// Advances arriving payloads, and delivers complete ones and the frames after them.
    #[cold]
    #[inline(never)]
    fn payloads(&mut self, deliver: Deliver<'_>) -> Result<usize> {
        let mut frames = 0;
        for from in 0..self.ways.len() {
            while let Some(mut arriving) = self.ways[from].arriving.take() {
                if !ended(&self.world, &mut arriving.request)? {
                    self.ways[from].arriving = Some(arriving);
                    break;
                }
                self.arriving -= 1;
                arriving.rest.start += arriving.rest.len().min(PIECE);
                frames += self.arrive(from, arriving, deliver)?;
                while self.ways[from].arriving.is_none()
                    && let Some(frame) = self.ways[from].behind.pop_front()
                {
                    frames += self.accept(from, frame, deliver)?;
                }
            }
        }
        Ok(frames)
    }

    /// Records which sends have ended.
    #[cold]
    #[inline(never)]
    fn look(&mut self) -> Result<()> {
        for way in &mut self.ways {
            way.frames.look(&self.world)?;
            way.pieces.look(&self.world)?;
        }
        self.sending = self.unsent() > 0;
        Ok(())
    }
}

#[cold]
fn garbage(peer: Rank, what: &dyn std::fmt::Display) -> CommError {
    CommError::Garbage { peer, what: what.to_string() }
}

impl Link for MpiLink {
    fn rank(&self) -> Rank {
        self.world.rank
    }

    fn size(&self) -> usize {
        self.ways.len()
    }

    fn exposed(&self) -> &[u8] {
        &self.memory
    }

    fn exposed_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    #[inline]
    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted> {
        check_peer(peer, self.rank(), self.size())?;
        let way = &mut self.ways[peer];
        if way.writing.is_some() {
            return Ok(Posted::Busy);
        }
        let (bytes, len) = frame.encode();
        self.sending = true;
        let place = (self.comm, peer as c_int, FRAME);
        Ok(way.frames.begin(&self.world, place, &bytes[..len])?)
    }

    fn try_write(
        &mut self,
        peer: Rank,
        frames: &[&Frame],
        from: Source<'_>,
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted> {
        let &[frame] = frames else { return Err(CommError::Stopped) };
        check_peer(peer, self.rank(), self.size())?;
        from.within(&self.memory)?;
        if self.ways[peer].writing.is_none() {
            if self.try_send(peer, frame)? == Posted::Busy {
                return Ok(Posted::Busy);
            }
            self.ways[peer].writing = Some(frame.kind);
        }
        let bytes = from.within(&self.memory)?;
        let way = &mut self.ways[peer];
        if way.writing != Some(frame.kind) {
            return Ok(Posted::Busy);
        }
        self.sending = true;
        let place = (self.comm, peer as c_int, PAYLOAD);
        for _ in 0..PIECES {
            let rest = bytes.get(*done..).unwrap_or_default();
            let piece = &rest[..rest.len().min(PIECE)];
            if piece.is_empty() || way.pieces.begin(&self.world, place, piece)? == Posted::Busy {
                break;
            }
            *done += piece.len();
        }
        // After all bytes are taken, nobody calls again.
        if *done < bytes.len() {
            return Ok(Posted::Busy);
        }
        way.writing = None;
        then.map_or(Ok(Posted::Yes), |then| self.try_send(peer, then))
    }

    #[inline]
    fn receive<F: Frames>(&mut self, mut to: F) -> Result<usize> {
        let mut deliver = |from, frame| to.frame(from, frame);
        let frames = if self.arriving > 0 { self.payloads(&mut deliver)? } else { 0 };
        let Some(source) = self.world.api.probe(self.comm, FRAME)? else {
            if self.sending {
                self.look()?;
            }
            return Ok(frames);
        };
        let mut bytes = [0; MAX_FRAME];
        self.world.api.recv_bytes(&mut bytes, (self.comm, source, FRAME))?;
        let from = source as Rank;
        let decoded = Frame::decode(&bytes).map_err(|error| garbage(from, &error))?;
        let (frame, _) = decoded.ok_or_else(|| garbage(from, &"a part of a frame"))?;
        if self.arriving > 0 && self.ways[from].arriving.is_some() {
            self.ways[from].behind.push_back(frame);
            return Ok(frames);
        }
        Ok(frames + self.accept(from, frame, &mut deliver)?)
    }

    /// A message is with MPI until its peer has taken it.
    fn tended(&self) -> bool {
        true
    }

    fn unsent(&self) -> usize {
        self.ways.iter().map(|way| way.frames.under_way() + way.pieces.under_way()).sum()
    }
}

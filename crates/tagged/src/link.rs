//! Frames over tagged messages.
//!
//! Each frame is one message. A payload follows its frame as messages of at most [`PIECE`] bytes,
//! which go from a buffer of the sender straight into the exposed memory of the receiver. Sends are
//! not waited for, so they come from buffers that stay valid.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use bandgap_comm::{
    CommError, Frame, FrameKind, Frames, Link, MAX_FRAME, Part, Posted, Rank, Result, Source,
    check_peer,
};

use crate::{Memory, Place, Tagged, Traffic};

/// Maximum number of frames in flight to one peer.
const FRAMES: usize = 16;
/// Maximum number of pieces of a payload in flight to one peer, and of pieces that one call begins
/// to send.
const PIECES: usize = 4;
/// Bytes of a piece.
const PIECE: usize = 64 << 10;

/// The tag of frames.
const FRAME: u32 = 0;
/// The tag of pieces.
const PAYLOAD: u32 = 1;

/// Sends in flight, each of up to `each` bytes. They end in the order in which they began.
struct Outgoing<T: Tagged> {
    buffers: Memory,
    each: usize,
    /// Most messages in flight.
    most: usize,
    requests: VecDeque<T::Request>,
    /// The buffer of the next message.
    next: usize,
}

impl<T: Tagged> Outgoing<T> {
    fn new(most: usize, each: usize) -> Self {
        let (buffers, requests) = (Memory::new(most * each), VecDeque::with_capacity(most));
        Self { buffers, each, most, requests, next: 0 }
    }

    #[inline(always)]
    fn under_way(&self) -> usize {
        self.requests.len()
    }

    /// Forgets sends that have ended. Returns whether all are still in flight.
    fn look(&mut self, world: &T) -> Result<bool> {
        while let Some(request) = self.requests.front_mut()
            && world.ended(request)?
        {
            self.requests.pop_front();
            self.buffers.ended(1);
        }
        Ok(self.under_way() == self.most)
    }

    /// Begins to send `bytes`, which must fit into a buffer, if a buffer is free.
    #[inline(always)]
    fn begin(&mut self, world: &T, place: Place<T>, bytes: &[u8]) -> Result<Posted> {
        if self.under_way() == self.most && self.look(world)? {
            return Ok(Posted::Busy);
        }
        let part = Part::new(self.next * self.each, bytes.len());
        part.of_mut(&mut self.buffers)?.copy_from_slice(bytes);
        self.requests.push_back(self.buffers.begin_send(world, part, place)?);
        self.next = if self.next + 1 == self.most { 0 } else { self.next + 1 };
        Ok(Posted::Yes)
    }
}

/// Callback for received frames.
type Deliver<'a> = &'a mut dyn FnMut(Rank, Frame);

/// A payload that is arriving.
struct Arriving<R> {
    frame: Frame,
    /// The part of the exposed memory that is still to come. It begins with the piece that is being
    /// received.
    rest: Range<usize>,
    request: R,
}

/// The state of the traffic between this rank and a peer.
struct Way<T: Tagged> {
    frames: Outgoing<T>,
    pieces: Outgoing<T>,
    /// The kind of frame whose payload is being sent to the peer.
    writing: Option<FrameKind>,
    arriving: Option<Arriving<T::Request>>,
    /// Frames that came after the payload that is arriving.
    behind: VecDeque<Frame>,
}

/// A rank's link to all others, over a library of tagged messages.
///
/// [`Link::receive`] takes one frame per call: a second look would cost a lone message more than it
/// saves for a series of them. The link cannot sleep, and does not notice when a peer is gone.
pub struct TaggedLink<T: Tagged> {
    world: Rc<T>,
    channel: T::Channel,
    /// By peer; this rank's own entry is unused.
    ways: Vec<Way<T>>,
    /// What this rank exposes. Messages into it are payloads that are arriving.
    memory: Memory,
    /// Whether a send may still be in flight.
    sending: bool,
}

impl<T: Tagged> TaggedLink<T> {
    /// A link among all ranks, each of which exposes this many bytes; a collective call.
    ///
    /// # Errors
    /// The library refused.
    pub fn new(world: Rc<T>, exposed: usize) -> Result<Self> {
        let channel = world.channel(Traffic::Frames, world.size())?;
        let way = |_| Way {
            frames: Outgoing::new(FRAMES, MAX_FRAME),
            pieces: Outgoing::new(PIECES, PIECE),
            writing: None,
            arriving: None,
            behind: VecDeque::new(),
        };
        let ways = (0..world.size()).map(way).collect();
        Ok(Self { world, channel, ways, memory: Memory::new(exposed), sending: false })
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
        self.arrive(from, frame, rest, deliver)
    }

    /// Begins to receive the next piece of a payload, or delivers its frame if no piece is left.
    fn arrive(
        &mut self,
        from: Rank,
        frame: Frame,
        rest: Range<usize>,
        deliver: Deliver<'_>,
    ) -> Result<usize> {
        if rest.is_empty() {
            deliver(from, frame);
            return Ok(1);
        }
        // `Bulk` forbids reading or writing these bytes meanwhile.
        let piece = Part::new(rest.start, rest.len().min(PIECE));
        let place = (self.channel, from, PAYLOAD);
        let request = self.memory.begin_recv(&*self.world, piece, place)?;
        self.ways[from].arriving = Some(Arriving { frame, rest, request });
        Ok(0)
    }

    /// Advances arriving payloads, and delivers complete ones and the frames after them.
    #[cold]
    #[inline(never)]
    fn payloads(&mut self, deliver: Deliver<'_>) -> Result<usize> {
        let mut frames = 0;
        for from in 0..self.ways.len() {
            while let Some(mut arriving) = self.ways[from].arriving.take() {
                if !self.world.ended(&mut arriving.request)? {
                    self.ways[from].arriving = Some(arriving);
                    break;
                }
                self.memory.ended(1);
                let Arriving { frame, rest, .. } = arriving;
                let rest = rest.start + rest.len().min(PIECE)..rest.end;
                frames += self.arrive(from, frame, rest, deliver)?;
                while self.ways[from].arriving.is_none()
                    && let Some(frame) = self.ways[from].behind.pop_front()
                {
                    frames += self.accept(from, frame, deliver)?;
                }
            }
        }
        Ok(frames)
    }

    /// Forgets sends that have ended.
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

impl<T: Tagged> Link for TaggedLink<T> {
    fn rank(&self) -> Rank {
        self.world.rank()
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
        way.frames.begin(&self.world, (self.channel, peer, FRAME), &bytes[..len])
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
        let place = (self.channel, peer, PAYLOAD);
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
        let frames = if self.memory.under_way() > 0 { self.payloads(&mut deliver)? } else { 0 };
        let Some((from, bytes)) = self.world.frame(self.channel, FRAME)? else {
            if self.sending {
                self.look()?;
            }
            return Ok(frames);
        };
        if from >= self.ways.len() {
            return Err(garbage(from, &"a frame of no rank"));
        }
        let decoded = Frame::decode(&bytes).map_err(|error| garbage(from, &error))?;
        let (frame, _) = decoded.ok_or_else(|| garbage(from, &"a part of a frame"))?;
        if self.memory.under_way() > 0 && self.ways[from].arriving.is_some() {
            self.ways[from].behind.push_back(frame);
            return Ok(frames);
        }
        Ok(frames + self.accept(from, frame, &mut deliver)?)
    }

    /// A message is with the library until its peer has taken it.
    fn tended(&self) -> bool {
        true
    }

    fn unsent(&self) -> usize {
        self.ways.iter().map(|way| way.frames.under_way() + way.pieces.under_way()).sum()
    }
}

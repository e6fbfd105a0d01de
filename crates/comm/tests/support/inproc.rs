//! A [`Link`] between the threads of one process.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};

use bandgap_comm::{
    CommError, ExposedMemory, Frame, FrameError, FrameKind, Frames, Link, Posted, Rank, Source,
    check_peer, exposed_range,
};

/// Bytes of a payload that pass at once. Few, so that most payloads take several pieces.
const PIECE: usize = 4096;

/// What passes between two ranks.
#[derive(Debug)]
enum Parcel {
    Frame(Frame),
    /// A piece of the payload of a frame, from offset `at` of it on. The frame counts as arrived
    /// with the `last`.
    Piece {
        frame: Frame,
        at: usize,
        bytes: Box<[u8]>,
        last: bool,
    },
}

/// The way to one peer.
#[derive(Debug)]
struct Way {
    channel: SyncSender<Parcel>,
    /// The payload that is on its way.
    writing: Option<FrameKind>,
}

/// One rank's end: a bounded queue of frames to each peer, and one from each. A payload passes in
/// pieces; each takes the room of a frame.
///
/// A peer is gone when its end was dropped.
#[derive(Debug)]
pub struct InprocLink {
    rank: Rank,
    /// By peer; that to this rank itself stays empty.
    to: Vec<Way>,
    /// By peer.
    from: Vec<Receiver<Parcel>>,
    memory: ExposedMemory,
}

/// The ends of `size` ranks. Each channel from one to another has room for `frames_per_channel`
/// frames.
///
/// # Panics
/// `frames_per_channel` is 0: no frame would ever find room.
pub fn links(size: usize, frames_per_channel: usize) -> Vec<InprocLink> {
    assert!(frames_per_channel > 0, "a channel without room takes no frame");
    let end = |rank| {
        let (to, from, memory) = (Vec::new(), Vec::new(), ExposedMemory::default());
        InprocLink { rank, to, from, memory }
    };
    let mut ends: Vec<InprocLink> = (0..size).map(end).collect();
    for sender in 0..size {
        for receiver in 0..size {
            let (channel, out_of) = sync_channel(frames_per_channel);
            ends[sender].to.push(Way { channel, writing: None });
            ends[receiver].from.push(out_of);
        }
    }
    ends
}

fn gone(peer: Rank) -> CommError {
    CommError::PeerGone { peer, detail: String::new() }
}

impl InprocLink {
    /// The same end, exposing so many bytes. Every rank of a run exposes the same number.
    pub fn exposing(mut self, bytes: usize) -> Self {
        self.memory = ExposedMemory::new(bytes);
        self
    }
}

impl Way {
    fn pass(&self, peer: Rank, parcel: Parcel) -> Result<Posted, CommError> {
        match self.channel.try_send(parcel) {
            Ok(()) => Ok(Posted::Yes),
            Err(TrySendError::Full(_)) => Ok(Posted::Busy),
            Err(TrySendError::Disconnected(_)) => Err(gone(peer)),
        }
    }
}

impl Link for InprocLink {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn exposed(&self) -> &[u8] {
        &self.memory
    }

    fn exposed_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted, CommError> {
        check_peer(peer, self.rank, self.size())?;
        let way = &self.to[peer];
        if way.writing.is_some() { Ok(Posted::Busy) } else { way.pass(peer, Parcel::Frame(*frame)) }
    }

    fn try_write(
        &mut self,
        peer: Rank,
        frames: &[&Frame],
        from: Source<'_>,
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted, CommError> {
        let &[frame] = frames else { return Err(CommError::Stopped) };
        let bytes = from.within(&self.memory)?;
        check_peer(peer, self.rank, self.to.len())?;
        let way = &mut self.to[peer];
        if way.writing.is_some_and(|kind| kind != frame.kind) {
            return Ok(Posted::Busy);
        }
        loop {
            let rest = bytes.get(*done..).unwrap_or_default();
            let piece = &rest[..rest.len().min(PIECE)];
            let last = piece.len() == rest.len();
            let parcel = Parcel::Piece { frame: *frame, at: *done, bytes: piece.into(), last };
            if way.pass(peer, parcel)? == Posted::Busy {
                return Ok(Posted::Busy);
            }
            *done += piece.len();
            way.writing = (!last).then_some(frame.kind);
            if last {
                return then.map_or(Ok(Posted::Yes), |then| self.try_send(peer, then));
            }
        }
    }

    fn receive<F: Frames>(&mut self, mut to: F) -> Result<usize, CommError> {
        let mut frames = 0;
        for (peer, channel) in self.from.iter().enumerate() {
            // One parcel of each peer in a call, so that no peer makes the others wait.
            let whole = match channel.try_recv() {
                Ok(Parcel::Frame(frame)) => Some(frame),
                Ok(Parcel::Piece { frame, at, bytes, last }) => {
                    let exposed = self.memory.len();
                    let garbage =
                        |wrong: FrameError| CommError::Garbage { peer, what: wrong.to_string() };
                    let target = frame.target(exposed).map_err(garbage)?;
                    let range = exposed_range(target.len(), at, bytes.len())?;
                    self.memory[target][range].copy_from_slice(&bytes);
                    last.then_some(frame)
                }
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => return Err(gone(peer)),
            };
            if let Some(frame) = whole {
                to.frame(peer, frame);
                frames += 1;
            }
        }
        Ok(frames)
    }
}

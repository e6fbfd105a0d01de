//! A rank's link to all others.

use std::mem::MaybeUninit;
use std::time::Duration;

use bandgap_comm::{CommError, ExposedMemory, Frame, Frames, Link, Posted, Rank, Result, Source};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

use crate::channel::Channel;
use crate::error::system;
use crate::{SocketError, Stream};

/// Largest number of peers for which every socket is simply read. A read that finds nothing costs
/// as much as a call that finds the readable sockets, and each arrival at a watched socket costs
/// more.
const FEW: usize = 3;

/// One stream to each peer. Each frame is sent with one call, or with the payload before it. Payloads
/// go from their source into the exposed memory without an extra copy. Nothing is allocated after
/// construction.
#[derive(Debug)]
pub struct SocketLink<S> {
    rank: Rank,
    /// In the order of the peers' ranks.
    channels: Vec<Channel<S>>,
    /// Number of channels with an unfinished frame.
    unfinished: usize,
    memory: ExposedMemory,
    /// Set if there are more than [`FEW`] peers.
    readable: Option<Readable>,
}

impl<S: Stream> SocketLink<S> {
    /// The link of `rank` over the streams to its peers, in the order of their ranks. It exposes no
    /// memory.
    ///
    /// # Errors
    /// The operating system refused to watch a socket.
    pub fn over(rank: Rank, streams: Vec<S>) -> Result<Self, SocketError> {
        let peers = (0..=streams.len()).filter(|&peer| peer != rank);
        let channels: Vec<_> =
            peers.zip(streams).map(|(peer, stream)| Channel::new(peer, stream)).collect();
        let readable = if channels.len() > FEW { Some(Readable::watch(&channels)?) } else { None };
        let memory = ExposedMemory::default();
        Ok(Self { rank, channels, unfinished: 0, memory, readable })
    }

    /// The same link, exposing this many bytes to the peers: equally many on every rank of a run.
    pub fn exposing(mut self, bytes: usize) -> Self {
        self.memory = ExposedMemory::new(bytes);
        self
    }

    /// Sends the rest of unfinished frames.
    #[cold]
    #[inline(never)]
    fn finish(&mut self) -> Result<()> {
        for channel in self.channels.iter_mut().filter(|channel| channel.unfinished()) {
            channel.finish()?;
            self.unfinished -= usize::from(!channel.unfinished());
        }
        Ok(())
    }
}

/// The index of a peer's channel.
#[inline(always)]
fn index(rank: Rank, peer: Rank) -> Option<usize> {
    if peer < rank { Some(peer) } else { peer.checked_sub(rank + 1).map(|beyond| rank + beyond) }
}

#[inline(always)]
fn channel<S>(channels: &mut [Channel<S>], rank: Rank, peer: Rank) -> Result<&mut Channel<S>> {
    let size = channels.len() + 1;
    let channel = index(rank, peer).and_then(|index| channels.get_mut(index));
    channel.ok_or(CommError::NoSuchPeer { peer, size })
}

impl<S: Stream> Link for SocketLink<S> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.channels.len() + 1
    }

    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted> {
        let channel = channel(&mut self.channels, self.rank, peer)?;
        let before = channel.unfinished();
        let posted = channel.try_send(frame)?;
        self.unfinished += usize::from(channel.unfinished() != before);
        Ok(posted)
    }

    fn exposed(&self) -> &[u8] {
        &self.memory
    }

    fn exposed_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    fn try_write(
        &mut self,
        peer: Rank,
        frames: &[&Frame],
        from: Source<'_>,
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted> {
        let bytes = from.within(&self.memory)?;
        let channel = channel(&mut self.channels, self.rank, peer)?;
        // An unfinished frame may be finished here, and a new one may stay unfinished.
        self.unfinished -= usize::from(channel.unfinished());
        let posted = channel.try_write(frames, bytes, done, then);
        self.unfinished += usize::from(channel.unfinished());
        posted
    }

    fn receive<F: Frames>(&mut self, mut to: F) -> Result<usize> {
        if self.unfinished > 0 {
            self.finish()?;
        }
        let exposed = &mut self.memory[..];
        let mut frames = 0;
        if let Some(readable) = &self.readable {
            let mut found: Found = [const { MaybeUninit::uninit() }; BATCH];
            for event in readable.now(&mut found)? {
                let channel = &mut self.channels[event.data.u64() as usize];
                frames += channel.receive(exposed, &mut to)?;
            }
        } else {
            for channel in &mut self.channels {
                frames += channel.receive(exposed, &mut to)?;
            }
        }
        Ok(frames)
    }

    fn unsent(&self) -> usize {
        self.unfinished
    }

    fn block(&mut self, timeout: Duration) -> Result<()> {
        let timeout = Timespec::try_from(timeout).ok();
        let outcome = match &self.readable {
            Some(readable) => readable.wait(&self.channels, timeout.as_ref()),
            None => wait_for_few(&self.channels, timeout.as_ref()),
        };
        for channel in &mut self.channels {
            // The refused sender may have given up. If it tries again, its channel waits for room
            // again.
            channel.refused = false;
        }
        match outcome {
            // A signal ends the wait just as an arrival does: the caller looks again.
            Ok(()) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(refused(error)),
        }
    }
}

#[cold]
fn refused(error: Errno) -> CommError {
    CommError::System { operation: "wait for a socket", source: error.into() }
}

/// Whether to wait also for the channel's socket to take bytes again.
fn wants_room<S: Stream>(channel: &Channel<S>) -> bool {
    channel.unfinished() || channel.refused
}

/// Waits for channels, at most [`FEW`].
fn wait_for_few<S: Stream>(
    channels: &[Channel<S>],
    timeout: Option<&Timespec>,
) -> Result<(), Errno> {
    let Some(last) = channels.len().checked_sub(1) else { return Ok(()) };
    // Entries beyond the last channel repeat it, and are cut off.
    let mut watched: [PollFd<'_>; FEW] = std::array::from_fn(|i| {
        let channel = &channels[i.min(last)];
        let room = if wants_room(channel) { PollFlags::OUT } else { PollFlags::empty() };
        PollFd::new(&channel.stream, PollFlags::IN | room)
    });
    poll(&mut watched[..=last], timeout).map(drop)
}

/// Most readable sockets that one call finds. The system names the others first in the next call.
const BATCH: usize = 32;

/// Room for what one call finds.
type Found = [MaybeUninit<epoll::Event>; BATCH];

/// Finds the readable ones among many sockets with one call.
#[derive(Debug)]
struct Readable {
    epoll: OwnedFd,
}

impl Readable {
    fn watch<S: Stream>(channels: &[Channel<S>]) -> Result<Self, SocketError> {
        let operation = "watch a socket";
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system(operation))?;
        for (index, channel) in channels.iter().enumerate() {
            let data = EventData::new_u64(index as u64);
            epoll::add(&epoll, &channel.stream, data, EventFlags::IN).map_err(system(operation))?;
        }
        Ok(Self { epoll })
    }

    /// The sockets that are readable now.
    fn now<'a>(&self, found: &'a mut Found) -> Result<&'a [epoll::Event]> {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        match epoll::wait(&self.epoll, &mut found[..], Some(&at_once)) {
            Ok((events, _)) => Ok(events),
            Err(Errno::INTR) => Ok(&[]),
            Err(error) => Err(refused(error)),
        }
    }

    fn wait<S: Stream>(
        &self,
        channels: &[Channel<S>],
        timeout: Option<&Timespec>,
    ) -> Result<(), Errno> {
        self.ask_for_room(channels, EventFlags::IN | EventFlags::OUT)?;
        let mut found: Found = [const { MaybeUninit::uninit() }; BATCH];
        let outcome = epoll::wait(&self.epoll, &mut found[..], timeout).map(drop);
        self.ask_for_room(channels, EventFlags::IN)?;
        outcome
    }

    /// Changes what the sockets with waiting output are watched for. Only full sockets have that.
    fn ask_for_room<S: Stream>(
        &self,
        channels: &[Channel<S>],
        flags: EventFlags,
    ) -> Result<(), Errno> {
        for (index, channel) in channels.iter().enumerate().filter(|(_, c)| wants_room(*c)) {
            let data = EventData::new_u64(index as u64);
            epoll::modify(&self.epoll, &channel.stream, data, flags)?;
        }
        Ok(())
    }
}

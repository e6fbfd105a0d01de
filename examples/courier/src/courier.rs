//! A courier: frames over TCP, which two threads for each peer carry. One writes what its rank hands over; one reads.

use std::convert::Infallible;
use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use bandgap::transport::*;

use crate::wrong::spoil;

/// Most parcels that wait for a thread, or for the rank.
const QUEUE: usize = 64;
/// Most bytes of a parcel.
const PIECE: usize = 64 << 10;

/// What passes between a rank and a thread.
enum Parcel {
    /// A frame. When it is sent, its payload follows; when it arrives, its payload is there.
    Frame(Frame),
    /// Bytes of a payload, and where the first one goes.
    Piece(usize, Vec<u8>),
}

type Result<T, E = CommError> = std::result::Result<T, E>;

/// From whom a parcel has come, or why nothing more comes.
type Arrival = (Rank, Result<Parcel>);

/// The transport.
pub struct Courier;

impl Transport for Courier {
    type Endpoint = Credited<CourierLink>;

    const NAME: &'static str = "courier";
    const MEANING: &'static str = "TCP by two threads for each peer";
    const CAN: Can = Can { block: true, threads: true, hosts: true, ..Can::USUAL };

    fn connect(
        _inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut Rendezvous<'_>,
    ) -> Result<Self::Endpoint> {
        let (rank, size) = (meeting.rank, meeting.size);
        let (arrive, arrivals) = sync_channel(QUEUE);
        let peers = (0..size).filter(|peer| *peer != rank).zip(tcp_peers(meeting)?);
        let way = |(peer, stream)| Way::begin(peer, stream, exposed, arrive.clone());
        let refused = |source| CommError::System { operation: "start two threads", source };
        let ways = peers.map(way).collect::<io::Result<_>>().map_err(refused)?;
        let memory = ExposedMemory::new(exposed);
        let link = CourierLink { rank, ways, arrivals, first: None, memory };
        Ok(Credited::new(link, DEFAULT_CREDITS))
    }
}

/// A rank's end.
pub struct CourierLink {
    rank: Rank,
    /// In the order of the peers' ranks.
    ways: Vec<Way>,
    arrivals: Receiver<Arrival>,
    /// What has ended a sleep.
    first: Option<Arrival>,
    memory: ExposedMemory,
}

/// The way to a peer.
struct Way {
    to: SyncSender<Parcel>,
    /// How many parcels its thread has yet to write.
    unsent: Arc<AtomicUsize>,
    /// The payload that is being handed over.
    payload: Option<FrameKind>,
}

impl Way {
    /// Starts the threads of a peer. They end when this rank and the peer drop their ends.
    fn begin(
        peer: Rank,
        stream: TcpStream,
        exposed: usize,
        arrive: SyncSender<Arrival>,
    ) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        let from = stream.try_clone()?;
        let (to, parcels) = sync_channel(QUEUE);
        let unsent = Arc::<AtomicUsize>::default();
        let counter = Arc::clone(&unsent);
        std::thread::Builder::new().spawn(move || write(stream, parcels, &counter))?;
        std::thread::Builder::new().spawn(move || {
            let Err(end) = read(peer, from, exposed, &arrive);
            // A rank that is gone need not know.
            drop(arrive.send((peer, Err(end))));
        })?;
        Ok(Self { to, unsent, payload: None })
    }

    /// A thread that has ended takes nothing either, and the other one says why.
    fn hand_over(&mut self, parcel: Parcel) -> Posted {
        let taken = self.to.try_send(parcel).is_ok();
        self.unsent.fetch_add(usize::from(taken), Ordering::Relaxed);
        if taken { Posted::Yes } else { Posted::Busy }
    }
}

fn way(ways: &mut [Way], rank: Rank, peer: Rank) -> Result<&mut Way> {
    check_peer(peer, rank, ways.len() + 1)?;
    Ok(&mut ways[peer - usize::from(peer > rank)])
}

impl Link for CourierLink {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.ways.len() + 1
    }

    fn exposed(&self) -> &[u8] {
        &self.memory
    }

    fn exposed_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted> {
        let way = way(&mut self.ways, self.rank, peer)?;
        Ok(if way.payload.is_none() { way.hand_over(Parcel::Frame(*frame)) } else { Posted::Busy })
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
        let bytes = from.within(&self.memory)?;
        let way = way(&mut self.ways, self.rank, peer)?;
        if way.payload.is_none() && way.hand_over(Parcel::Frame(*frame)) == Posted::Yes {
            way.payload = Some(frame.kind);
        }
        if way.payload != Some(frame.kind) {
            return Ok(Posted::Busy);
        }
        for piece in bytes[*done..].chunks(PIECE).take(QUEUE) {
            if way.hand_over(Parcel::Piece(*done, piece.to_vec())) == Posted::Busy {
                return Ok(Posted::Busy);
            }
            *done += piece.len();
        }
        if *done < bytes.len() {
            return Ok(Posted::Busy);
        }
        way.payload = None;
        then.map_or(Ok(Posted::Yes), |then| self.try_send(peer, then))
    }

    fn receive<F: Frames>(&mut self, mut to: F) -> Result<usize> {
        let mut frames = 0;
        for _ in 0..QUEUE {
            let next = self.first.take().or_else(|| self.arrivals.try_recv().ok());
            let Some((peer, parcel)) = next else { break };
            match parcel? {
                Parcel::Frame(frame) => {
                    to.frame(peer, frame);
                    frames += 1;
                }
                Parcel::Piece(at, it) => self.memory[at..at + it.len()].copy_from_slice(&it),
            }
        }
        Ok(frames)
    }

    fn unsent(&self) -> usize {
        self.ways.iter().map(|way| way.unsent.load(Ordering::Relaxed)).sum()
    }

    fn block(&mut self, timeout: Duration) -> Result<()> {
        // Nothing wakes a rank when a full queue has room again: it looks soon.
        let most = if self.unsent() > 0 { Duration::from_millis(1) } else { timeout };
        self.first =
            self.first.take().or_else(|| self.arrivals.recv_timeout(timeout.min(most)).ok());
        Ok(())
    }
}

/// Writes until the rank drops its end, and then tells the peer that nothing follows.
fn write(mut to: TcpStream, parcels: Receiver<Parcel>, unsent: &AtomicUsize) -> io::Result<()> {
    let mut spoilt = spoil();
    for parcel in parcels {
        match parcel {
            Parcel::Frame(frame) => {
                for frame in spoilt(frame) {
                    let (bytes, len) = frame.encode();
                    to.write_all(&bytes[..len])?;
                }
            }
            Parcel::Piece(_, bytes) => to.write_all(&bytes)?,
        }
        unsent.fetch_sub(1, Ordering::Relaxed);
    }
    to.shutdown(Shutdown::Write)
}

/// Reads until the peer is gone or sends what it may not send.
fn read(
    peer: Rank,
    from: TcpStream,
    exposed: usize,
    to: &SyncSender<Arrival>,
) -> Result<Infallible> {
    let mut from = BufReader::with_capacity(PIECE, from);
    let gone = |error: io::Error| CommError::PeerGone { peer, detail: format!(" ({error})") };
    let garbage = |wrong: FrameError| CommError::Garbage { peer, what: wrong.to_string() };
    let mut fill = |bytes: &mut [u8]| from.read_exact(bytes).map_err(gone);
    let pass = |parcel| to.send((peer, Ok(parcel))).map_err(|_| CommError::Stopped);
    loop {
        let (mut bytes, mut len) = ([0; MAX_FRAME], 0);
        let frame = loop {
            match Frame::decode(&bytes[..len]).map_err(garbage)? {
                Some((frame, _)) => break frame,
                // Frames consist of words of 8 bytes.
                None => fill(&mut bytes[len..len + 8])?,
            }
            len += 8;
        };
        if frame.has_payload() {
            let into = frame.target(exposed).map_err(garbage)?;
            for at in into.clone().step_by(PIECE) {
                let mut bytes = vec![0; PIECE.min(into.end - at)];
                fill(&mut bytes)?;
                pass(Parcel::Piece(at, bytes))?;
            }
        }
        pass(Parcel::Frame(frame))?;
    }
}

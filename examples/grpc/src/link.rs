//! Frames between ranks, in parcels that a [`Way`] of gRPC carries.

use std::marker::PhantomData;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use bandgap::transport::{
    Can, CommError, Credited, DEFAULT_CREDITS, ExposedMemory, Frame, FrameKind, Frames, Link,
    Posted, Rank, Rendezvous, Source, Transport, check_peer, tcp_peers,
};
use bytes::Bytes;
use tokio::sync::mpsc;

use crate::engine::Engine;
use crate::service::Parcel;
use crate::wire::Io;

/// Bytes of a payload in a parcel at most.
const PIECE: usize = 64 << 10;

/// How parcels travel between a rank and a peer.
pub trait Way: Sized + Send + 'static {
    /// The transport's name.
    const NAME: &'static str;
    /// What it is, in a few words.
    const MEANING: &'static str;
    /// Connections to a peer.
    const WIRES: usize;

    /// Begins to connect, within the runtime. Of two ranks the lower one is `first`.
    fn begin(peer: Rank, first: bool, wires: Vec<Io>, ready: Ready<Self>);
    /// Sends a parcel, within the runtime; `last` if it has the last bytes of its frame.
    fn send(&mut self, parcel: Parcel, frame: &Frame, last: bool);
    /// The next parcel from the peer, in the order in which it sent them.
    ///
    /// # Errors
    /// The peer is gone, or sent garbage.
    fn next(&mut self, peer: Rank) -> Result<Option<(Parcel, Frame)>, CommError>;
}

/// Takes peers that are connected.
pub type Ready<W> = mpsc::UnboundedSender<(Rank, Result<W, CommError>)>;

struct Peer<W> {
    way: W,
    /// The payload that is on its way to it.
    writing: Option<FrameKind>,
    /// Whether something may have arrived.
    fresh: bool,
}

/// One rank's connections to all others.
pub struct GrpcLink<W> {
    rank: Rank,
    size: usize,
    engine: Engine,
    peers: Vec<Option<Peer<W>>>,
    memory: ExposedMemory,
}

impl<W: Way> GrpcLink<W> {
    fn over(
        rank: Rank,
        sockets: Vec<Vec<TcpStream>>,
        exposed: usize,
        deadline: Instant,
    ) -> Result<Self, CommError> {
        let (mut engine, size) = (Engine::new()?, sockets.len() + 1);
        let (ready, mut connected) = mpsc::unbounded_channel();
        let others = (0..size).filter(|peer| *peer != rank);
        for (peer, sockets) in others.zip(sockets) {
            let wires = sockets.into_iter().map(|socket| engine.wire(peer, socket)).collect();
            engine.turn(|| W::begin(peer, rank < peer, wires, ready.clone()));
        }
        let mut peers: Vec<Option<Peer<W>>> = (0..size).map(|_| None).collect();
        for _ in 1..size {
            let (peer, way) = engine.until(deadline, || connected.try_recv().ok())?;
            peers[peer] = Some(Peer { way: way?, writing: None, fresh: true });
        }
        Ok(Self { rank, size, engine, peers, memory: ExposedMemory::new(exposed) })
    }

    /// Sends parcels of frames, if there is room: none while earlier bytes wait for it, or a payload of another kind is on
    /// its way. When this returns they are with the system, or unsent. `rest` is what is left of the first one's payload.
    fn send(
        &mut self,
        peer: Rank,
        parcels: [Option<(Parcel, &Frame)>; 2],
        rest: usize,
    ) -> Result<Posted, CommError> {
        check_peer(peer, self.rank, self.size)?;
        let Some(to) = &mut self.peers[peer] else { return Ok(Posted::Busy) };
        let kind = parcels[0].as_ref().map(|(_, frame)| frame.kind);
        if to.writing.is_some() && to.writing != kind || self.engine.blocked(peer) {
            return Ok(Posted::Busy);
        }
        to.writing = kind.filter(|_| rest > 0);
        self.engine.turn(|| {
            for (parcel, frame) in parcels.into_iter().flatten() {
                to.way.send(parcel, frame, rest == 0);
            }
        });
        Ok(Posted::Yes)
    }
}

impl<W: Way> Link for GrpcLink<W> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exposed(&self) -> &[u8] {
        &self.memory
    }

    fn exposed_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted, CommError> {
        self.send(peer, [Some((Parcel::of(frame), frame)), None], 0)
    }

    fn try_write(
        &mut self,
        peer: Rank,
        frames: &[&Frame],
        from: Source<'_>,
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted, CommError> {
        // Its requests carry no bytes.
        let [frame] = frames else { return Err(CommError::Stopped) };
        // At most what the socket has room for.
        loop {
            let rest = from.within(&self.memory)?.get(*done..).unwrap_or_default();
            let (piece, rest) = rest.split_at(rest.len().min(PIECE));
            let (taken, rest) = (piece.len(), rest.len());
            let payload = Bytes::copy_from_slice(piece);
            let parcel = Parcel { at: *done as u64, payload, ..Parcel::of(frame) };
            let then = then.filter(|_| rest == 0).map(|then| (Parcel::of(then), then));
            if self.send(peer, [Some((parcel, *frame)), then], rest)? == Posted::Busy {
                return Ok(Posted::Busy);
            }
            *done += taken;
            if rest == 0 {
                return Ok(Posted::Yes);
            }
        }
    }

    fn receive<F: Frames>(&mut self, mut frames: F) -> Result<usize, CommError> {
        let Self { engine, peers, memory, .. } = self;
        engine.look(|peer| {
            if let Some(from) = &mut peers[peer] {
                from.fresh = true;
            }
        });
        let mut count = 0;
        for (peer, from) in peers.iter_mut().enumerate() {
            let Some(from) = from.as_mut().filter(|from| from.fresh) else { continue };
            from.fresh = false;
            while let Some((parcel, frame)) = from.way.next(peer)? {
                if frame.has_payload() && !parcel.put(peer, &frame, memory)? {
                    continue;
                }
                frames.frame(peer, frame);
                count += 1;
            }
        }
        if count == 0 {
            engine.nobody_left()?;
        }
        Ok(count)
    }

    fn tended(&self) -> bool {
        true
    }

    fn unsent(&self) -> usize {
        self.engine.unsent()
    }

    fn block(&mut self, timeout: Duration) -> Result<(), CommError> {
        self.engine.block(timeout)
    }
}

/// The transport of this way.
pub struct Over<W>(PhantomData<W>);

impl<W: Way> Transport for Over<W> {
    type Endpoint = Credited<GrpcLink<W>>;
    const NAME: &'static str = W::NAME;
    const MEANING: &'static str = W::MEANING;
    const CAN: Can = Can { block: true, ranks: 64, hosts: true, ..Can::USUAL };

    fn connect(
        _inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut Rendezvous<'_>,
    ) -> Result<Self::Endpoint, CommError> {
        let mut sockets: Vec<Vec<TcpStream>> = (1..meeting.size).map(|_| Vec::new()).collect();
        for _ in 0..W::WIRES {
            let another = tcp_peers(meeting)?;
            sockets.iter_mut().zip(another).for_each(|(sockets, socket)| sockets.push(socket));
        }
        let link = GrpcLink::over(meeting.rank, sockets, exposed, meeting.deadline)?;
        Ok(Credited::new(link, DEFAULT_CREDITS))
    }
}

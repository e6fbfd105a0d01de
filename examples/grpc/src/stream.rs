//! Frames on one bidirectional stream between each pair of ranks.

use std::convert::Infallible;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::seam::{
    Can, CommError, Credited, DEFAULT_CREDITS, ExposedMemory, Frame, FrameKind, Frames, Link,
    Posted, Rank, Rendezvous, Source, Transport, check_peer, tcp_peers,
};
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream as _, StreamExt as _};
use tonic::transport::server::Connected;
use tonic::{Request, Response, Status, Streaming};

use crate::engine::Engine;
use crate::service::{Codec, Parcel, client, gone, path, serve, served, set_up};

/// Parcels that wait for a connection at most.
const ROOM: usize = 64;
/// Bytes of a payload in a parcel at most, and parcels of it until this rank receives.
const PIECE: usize = 64 << 10;
const PIECES: usize = 16;

/// gRPC, all messages to a peer on one stream.
pub struct OnStream;

/// The ends of a stream.
pub(crate) struct Ends {
    pub to: mpsc::Sender<Parcel>,
    pub from: Streaming<Parcel>,
}

struct Peer {
    ends: Ends,
    /// The payload that is on its way.
    writing: Option<FrameKind>,
    /// Whether something may have arrived.
    fresh: bool,
}

/// One rank's streams to all others.
pub struct StreamLink {
    rank: Rank,
    size: usize,
    engine: Engine,
    peers: Vec<Option<Peer>>,
    memory: ExposedMemory,
}

impl StreamLink {
    fn over(
        rank: Rank,
        sockets: Vec<TcpStream>,
        exposed: usize,
        deadline: Instant,
    ) -> Result<Self, CommError> {
        let (mut engine, size) = (Engine::new()?, sockets.len() + 1);
        let (ready, mut made) = mpsc::unbounded_channel();
        for (index, socket) in sockets.into_iter().enumerate() {
            let peer = index + usize::from(index >= rank);
            let (io, ready) = (engine.wire(peer, socket), ready.clone());
            // The lower rank of a pair calls.
            engine.turn(|| match rank < peer {
                true => {
                    tokio::spawn(async move { ready.send((peer, called(io).await)) });
                }
                false => {
                    tokio::spawn(serve_stream(io, move |ends| {
                        let _ = ready.send((peer, Ok(ends)));
                    }));
                }
            });
        }
        let mut peers: Vec<Option<Peer>> = (0..size).map(|_| None).collect();
        for _ in 1..size {
            let (peer, ends) = engine.until(deadline, || made.try_recv().ok())?;
            peers[peer] = Some(Peer { ends: ends?, writing: None, fresh: true });
        }
        Ok(Self { rank, size, engine, peers, memory: ExposedMemory::new(exposed) })
    }

    /// The peer, if there is room: none while bytes to it wait for room, or a payload of another kind is on its way.
    fn room(
        &mut self,
        peer: Rank,
        writing: Option<FrameKind>,
    ) -> Result<Option<&mut Peer>, CommError> {
        check_peer(peer, self.rank, self.size)?;
        let wire = peer - usize::from(peer > self.rank);
        let to = self.peers[peer].as_mut();
        let free = |to: &&mut Peer| to.writing.is_none() || to.writing == writing;
        Ok(to.filter(free).filter(|_| !self.engine.wires[wire].blocked()))
    }

    /// Sends these where there is room. When this returns they are with the system, unless the wire is blocked.
    fn send(&self, peer: Rank, parcels: [Option<Parcel>; 2]) -> Result<(), CommError> {
        let Some(Peer { ends, .. }) = &self.peers[peer] else { return Ok(()) };
        let sent = self
            .engine
            .turn(|| parcels.into_iter().flatten().try_for_each(|parcel| ends.to.try_send(parcel)));
        sent.map_err(|error| gone(peer, error))
    }
}

/// Calls the peer, and gives both ends of the call.
pub(crate) async fn called<S>(socket: S) -> Result<Ends, CommError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut client = client(socket).await?;
    let (to, parcels) = mpsc::channel(ROOM);
    client.ready().await.map_err(set_up)?;
    let call =
        client.streaming(Request::new(ReceiverStream::new(parcels)), path(), Codec::default());
    Ok(Ends { to, from: call.await.map_err(set_up)?.into_inner() })
}

/// Serves the peer, and gives both ends of its call.
pub(crate) async fn serve_stream<S, F>(socket: S, called: F)
where
    S: Connected + AsyncRead + AsyncWrite + Send + Unpin + 'static,
    F: Fn(Ends) + Clone + Send + Sync + 'static,
{
    let service = tower::service_fn(move |request| {
        let called = called.clone();
        let answer = tower::service_fn(move |request: Request<Streaming<Parcel>>| {
            let (to, parcels) = mpsc::channel(ROOM);
            called(Ends { to, from: request.into_inner() });
            let parcels = ReceiverStream::new(parcels).map(Ok::<_, Status>);
            async move { Ok(Response::new(parcels)) }
        });
        async move { Ok::<_, Infallible>(served().streaming(answer, request).await) }
    });
    serve(socket, service).await;
}

impl Peer {
    fn next(&mut self, peer: Rank, cx: &mut Context<'_>) -> Result<Option<Parcel>, CommError> {
        match Pin::new(&mut self.ends.from).poll_next(cx) {
            Poll::Pending => Ok(None),
            Poll::Ready(Some(Ok(parcel))) => Ok(Some(parcel)),
            Poll::Ready(Some(Err(status))) => Err(gone(peer, status)),
            Poll::Ready(None) => Err(gone(peer, "it ended the stream")),
        }
    }
}

impl Link for StreamLink {
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

    fn tended(&self) -> bool {
        true
    }

    fn try_send(&mut self, peer: Rank, frame: &Frame) -> Result<Posted, CommError> {
        if self.room(peer, None)?.is_none() {
            return Ok(Posted::Busy);
        }
        self.send(peer, [Some(Parcel::of(frame)), None])?;
        Ok(Posted::Yes)
    }

    fn try_write(
        &mut self,
        peer: Rank,
        frames: &[&Frame],
        from: Source<'_>,
        done: &mut usize,
        then: Option<&Frame>,
    ) -> Result<Posted, CommError> {
        let [frame] = frames else { return Err(CommError::Stopped) };
        for _ in 0..PIECES {
            let rest = from.within(&self.memory)?.get(*done..).unwrap_or_default();
            let payload = Bytes::copy_from_slice(&rest[..rest.len().min(PIECE)]);
            let last = payload.len() == rest.len();
            let Some(to) = self.room(peer, Some(frame.kind))? else { return Ok(Posted::Busy) };
            to.writing = (!last).then_some(frame.kind);
            let parcel = Parcel { at: *done as u64, payload, ..Parcel::of(frame) };
            *done += parcel.payload.len();
            self.send(peer, [Some(parcel), then.filter(|_| last).map(Parcel::of)])?;
            if last {
                return Ok(Posted::Yes);
            }
        }
        Ok(Posted::Busy)
    }

    fn receive<F: Frames>(&mut self, mut frames: F) -> Result<usize, CommError> {
        let Self { engine, peers, memory, .. } = self;
        engine.look(
            |_| true,
            |peer| {
                if let Some(from) = &mut peers[peer] {
                    from.fresh = true;
                }
            },
        );
        let (mut count, mut cx) = (0, Context::from_waker(Waker::noop()));
        for (peer, from) in peers.iter_mut().enumerate() {
            let Some(from) = from.as_mut().filter(|from| from.fresh) else { continue };
            from.fresh = false;
            while let Some(parcel) = from.next(peer, &mut cx)? {
                let frame = parcel.frame(peer)?;
                if frame.has_payload() {
                    parcel.put(peer, &frame, memory)?;
                    let [_, len, ..] = *frame.message.all_words();
                    if parcel.at + (parcel.payload.len() as u64) < len {
                        continue;
                    }
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

    fn unsent(&self) -> usize {
        self.engine.unsent()
    }

    fn block(&mut self, timeout: Duration) -> Result<(), CommError> {
        self.engine.block(timeout)
    }
}

impl Transport for OnStream {
    type Endpoint = Credited<StreamLink>;
    const NAME: &'static str = "grpc-stream";
    const MEANING: &'static str = "gRPC (tonic), all messages on one stream";
    const CAN: Can = Can { block: true, ranks: 64, hosts: true, ..Can::USUAL };

    fn connect(
        _inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut Rendezvous<'_>,
    ) -> Result<Self::Endpoint, CommError> {
        let sockets = tcp_peers(meeting)?;
        let link = StreamLink::over(meeting.rank, sockets, exposed, meeting.deadline)?;
        Ok(Credited::new(link, DEFAULT_CREDITS))
    }
}

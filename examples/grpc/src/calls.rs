//! Every request a call: the caller goes on once it has left, a handler runs at the callee, and the answer runs the
//! caller's handler.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::seam::{
    Begun, Bulk, Can, CommError, Deliver, Endpoint, ExposedMemory, Frame, FrameKind, HandlerId,
    Message, Posted, Rank, Rendezvous, Source, Transport, check_peer, exposed_range, tcp_peers,
};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tonic::{Request, Response, Status};

use crate::engine::Engine;
use crate::service::{Client, Parcel, call, client, garbage, gone, serve_calls};
use crate::wire::{Io, Wire};

/// Calls to a peer that may be outstanding, and of stores as many beside them.
const CALLS: usize = 32;
/// Bytes of a store in a call at most.
const PIECE: usize = 256 << 10;

/// gRPC, every request a call of its own.
pub struct Calls;

/// What a call is for, at the caller.
enum Asked {
    Request,
    Store,
    Get { into: usize, len: usize, message: Message },
}

/// A peer's call, to be answered.
type Call = (Parcel, oneshot::Sender<Parcel>);

/// What tasks leave for the rank.
#[derive(Default)]
struct Inbox {
    calls: Vec<(Rank, Call)>,
    answers: Vec<(Rank, Asked, Result<Parcel, Status>)>,
}

#[derive(Default)]
struct Shared {
    inbox: Mutex<Inbox>,
    /// Peers that made their first calls.
    greeted: AtomicUsize,
}

impl Shared {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Peer {
    client: Client,
    requests: usize,
    stores: usize,
    /// Calls made.
    made: u64,
    /// Calls of the peer that were handled.
    handled: u64,
    /// Calls that overtook others: gRPC keeps no order between calls.
    early: BTreeMap<u64, Call>,
}

/// One rank's client and server for each other rank.
pub struct CallEnd {
    rank: Rank,
    size: usize,
    /// Of each peer first the wire of this rank's calls, then that of the peer's.
    engine: Engine,
    peers: Vec<Option<Peer>>,
    shared: Arc<Shared>,
    memory: ExposedMemory,
    taken: Inbox,
    /// Answers that are about to be given.
    given: Vec<(oneshot::Sender<Parcel>, Parcel)>,
}

impl CallEnd {
    fn over(
        rank: Rank,
        sockets: impl Iterator<Item = [TcpStream; 2]>,
        exposed: usize,
        deadline: Instant,
    ) -> Result<Self, CommError> {
        let (mut engine, shared) = (Engine::new()?, Arc::<Shared>::default());
        let (ready, mut clients) = mpsc::unbounded_channel();
        for (index, [first, second]) in sockets.enumerate() {
            let peer = index + usize::from(index >= rank);
            // The lower rank calls on the first, the higher one on the second.
            let [own, other] = if rank < peer { [first, second] } else { [second, first] };
            let (own, other) = (engine.wire(peer, own), engine.wire(peer, other));
            let (shared, ready) = (Arc::clone(&shared), ready.clone());
            engine.turn(|| {
                tokio::spawn(serve_calls(other, move |request| shared.enter(peer, request)));
                tokio::spawn(async move { ready.send((peer, greeted(peer, own).await)) });
            });
        }
        let others = engine.wires.len() / 2;
        let mut peers: Vec<Option<Peer>> = (0..=others).map(|_| None).collect();
        for _ in 0..others {
            let (peer, client) = engine.until(deadline, || clients.try_recv().ok())?;
            peers[peer] = Some(Peer {
                client: client?,
                requests: 0,
                stores: 0,
                made: 0,
                handled: 0,
                early: BTreeMap::new(),
            });
        }
        engine
            .until(deadline, || (shared.greeted.load(Ordering::Relaxed) == others).then_some(()))?;
        let (memory, taken, given) = (ExposedMemory::new(exposed), Inbox::default(), Vec::new());
        Ok(Self { rank, size: others + 1, engine, peers, shared, memory, taken, given })
    }

    /// A peer, and the wire of calls to it.
    fn peer(&mut self, peer: Rank) -> Result<(&mut Peer, &Wire), CommError> {
        let size = self.size;
        let wire = 2 * (peer.min(size) - usize::from(peer > self.rank));
        let found = self.peers.get_mut(peer).and_then(Option::as_mut);
        match (found, self.engine.wires.get(wire)) {
            (Some(found), Some(wire)) => Ok((found, wire)),
            _ => Err(CommError::NoSuchPeer { peer, size }),
        }
    }

    /// Makes a call. When this returns its bytes are with the system, unless the wire is blocked.
    fn call(&mut self, peer: Rank, parcel: Parcel, asked: Asked) -> Result<(), CommError> {
        let shared = Arc::clone(&self.shared);
        let (to, _) = self.peer(peer)?;
        let parcel = Parcel { number: to.made, ..parcel };
        to.made += 1;
        let mut client = to.client.clone();
        let task = async move {
            let answer = call(&mut client, parcel).await;
            shared.inbox().answers.push((peer, asked, answer));
        };
        self.engine.turn(|| drop(tokio::spawn(task)));
        Ok(())
    }

    /// Makes a call for which the peer has room, unless the last one has not left.
    fn request(&mut self, peer: Rank, frame: &Frame, asked: Asked) -> Result<bool, CommError> {
        let (to, wire) = self.peer(peer)?;
        if to.requests == CALLS || wire.blocked() {
            return Ok(false);
        }
        to.requests += 1;
        self.call(peer, Parcel::of(frame), asked)?;
        Ok(true)
    }

    /// Delivers the answer to a call of this rank.
    fn answered<D: Deliver>(
        &mut self,
        peer: Rank,
        asked: Asked,
        answer: Result<Parcel, Status>,
        deliver: &mut D,
    ) -> Result<usize, CommError> {
        let answer = answer.map_err(|status| gone(peer, status))?;
        let frame = answer.frame(peer)?;
        let (to, _) = self.peer(peer)?;
        let reply = match asked {
            Asked::Store => {
                to.stores -= 1;
                return Ok(0);
            }
            Asked::Request => (frame.kind == FrameKind::Reply).then_some(frame.message),
            Asked::Get { into, len, message } => {
                if frame.target(self.memory.len()) != Ok(into..into + len) {
                    return Err(garbage(peer, "bytes that were not asked for"));
                }
                answer.put(peer, &frame, &mut self.memory)?;
                Some(message)
            }
        };
        self.peer(peer)?.0.requests -= 1;
        if let Some(reply) = reply {
            deliver.reply(peer, reply).map_err(|error| garbage(peer, error))?;
        }
        Ok(1)
    }

    /// Takes a call of a peer, and handles all those whose turn it then is.
    fn arrived<D: Deliver>(
        &mut self,
        peer: Rank,
        call: Call,
        deliver: &mut D,
    ) -> Result<usize, CommError> {
        let (from, _) = self.peer(peer)?;
        let number = call.0.number;
        if number != from.handled {
            if number < from.handled || from.early.insert(number, call).is_some() {
                return Err(garbage(peer, format!("call {number} twice")));
            }
            return Ok(0);
        }
        let (mut next, mut requests) = (Some(call), 0);
        while let Some((parcel, answer)) = next {
            let (with, count) = self.handle(peer, &parcel, deliver)?;
            self.given.push((answer, with));
            requests += count;
            let (from, _) = self.peer(peer)?;
            from.handled += 1;
            next = from.early.remove(&from.handled);
        }
        Ok(requests)
    }

    /// Handles a call of a peer. Returns the answer, and the number of requests.
    fn handle<D: Deliver>(
        &mut self,
        peer: Rank,
        parcel: &Parcel,
        deliver: &mut D,
    ) -> Result<(Parcel, usize), CommError> {
        let frame = parcel.frame(peer)?;
        let done = || Parcel::of(&plain(FrameKind::Credit, Message::new(HandlerId(0), [])));
        match frame.kind {
            FrameKind::Request => {
                let reply = deliver.request(peer, frame.message);
                let reply = reply.map_err(|error| garbage(peer, error))?;
                let replied = |&reply: &Message| Parcel::of(&plain(FrameKind::Reply, reply));
                Ok((reply.map_or_else(done, replied), 1))
            }
            FrameKind::Stored => {
                parcel.put(peer, &frame, &mut self.memory)?;
                Ok((done(), 0))
            }
            FrameKind::Get => {
                let &[at, into, len] = frame.message.words() else {
                    return Err(garbage(peer, "a get of other words"));
                };
                let [at, into, len] = [at, into, len].map(|word| word as usize);
                let bytes = &self.memory[exposed_range(self.memory.len(), at, len)?];
                let got = Frame::announcing(FrameKind::Got, into, len);
                Ok((Parcel { payload: Bytes::copy_from_slice(bytes), ..Parcel::of(&got) }, 0))
            }
            other => Err(garbage(peer, format!("a call that is a {other:?}"))),
        }
    }
}

fn plain(kind: FrameKind, message: Message) -> Frame {
    Frame { kind, credits: 0, message }
}

/// A client of a peer that has answered a first call: its settings are known then.
async fn greeted(peer: Rank, socket: Io) -> Result<Client, CommError> {
    let mut client = client(socket).await?;
    call(&mut client, Parcel::default()).await.map_err(|status| gone(peer, status))?;
    Ok(client)
}

impl Shared {
    /// Takes a peer's call, which waits until this rank has handled it. The first one is answered at once.
    fn enter(
        &self,
        peer: Rank,
        call: Request<Parcel>,
    ) -> impl Future<Output = Result<Response<Parcel>, Status>> + use<> {
        let (answer, answered) = oneshot::channel();
        let parcel = call.into_inner();
        if parcel.frame.is_empty() {
            self.greeted.fetch_add(1, Ordering::Relaxed);
            let _ = answer.send(Parcel::default());
        } else {
            self.inbox().calls.push((peer, (parcel, answer)));
        }
        async {
            let answer = answered.await;
            answer.map(Response::new).map_err(|_| Status::unavailable("the rank has ended"))
        }
    }
}

impl Endpoint for CallEnd {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn capacity(&self) -> usize {
        CALLS
    }

    fn tended(&self) -> bool {
        true
    }

    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted, CommError> {
        check_peer(peer, self.rank, self.size)?;
        let frame = plain(FrameKind::Request, message);
        let made = self.request(peer, &frame, Asked::Request)?;
        Ok(if made { Posted::Yes } else { Posted::Busy })
    }

    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError> {
        self.engine.look(|_| true, |_| ());
        let mut taken = std::mem::take(&mut self.taken);
        std::mem::swap(&mut taken, &mut *self.shared.inbox());
        let idle = taken.calls.is_empty() && taken.answers.is_empty();
        let mut handled = 0;
        for (peer, asked, answer) in taken.answers.drain(..) {
            handled += self.answered(peer, asked, answer, deliver)?;
        }
        for (peer, call) in taken.calls.drain(..) {
            handled += self.arrived(peer, call, deliver)?;
        }
        self.taken = taken;
        if !self.given.is_empty() {
            let given = &mut self.given;
            self.engine.turn(|| {
                for (answer, with) in given.drain(..) {
                    // Who no longer waits for it is gone.
                    let _ = answer.send(with);
                }
            });
        } else if idle {
            self.engine.nobody_left()?;
        }
        Ok(handled)
    }

    fn outstanding(&self) -> usize {
        self.peers.iter().flatten().map(|peer| peer.requests).sum()
    }

    fn unsent(&self) -> usize {
        self.engine.unsent()
    }

    fn block(&mut self, timeout: Duration) -> Result<(), CommError> {
        self.engine.block(timeout)
    }
}

impl Bulk for CallEnd {
    fn exposed(&self) -> usize {
        self.memory.len()
    }

    fn read_exposed(&self, at: usize, into: &mut [u8]) -> Result<(), CommError> {
        into.copy_from_slice(&self.memory[exposed_range(self.memory.len(), at, into.len())?]);
        Ok(())
    }

    fn write_exposed(&mut self, at: usize, from: &[u8]) -> Result<(), CommError> {
        let range = exposed_range(self.memory.len(), at, from.len())?;
        self.memory[range].copy_from_slice(from);
        Ok(())
    }

    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted, CommError> {
        check_peer(peer, self.rank, self.size)?;
        exposed_range(self.memory.len(), into, from.len())?;
        loop {
            let rest = from.within(&self.memory)?.get(*done..).unwrap_or_default();
            let payload = Bytes::copy_from_slice(&rest[..rest.len().min(PIECE)]);
            let (to, wire) = self.peer(peer)?;
            if wire.blocked() || to.stores == CALLS {
                return Ok(Posted::Busy);
            }
            if payload.is_empty() {
                return Ok(Posted::Yes);
            }
            to.stores += 1;
            let frame = Frame::announcing(FrameKind::Stored, into + *done, payload.len());
            *done += payload.len();
            self.call(peer, Parcel { payload, ..Parcel::of(&frame) }, Asked::Store)?;
        }
    }

    fn try_get(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        message: Message,
    ) -> Result<Begun, CommError> {
        check_peer(peer, self.rank, self.size)?;
        exposed_range(self.memory.len(), at, len)?;
        exposed_range(self.memory.len(), into, len)?;
        let words = [at, into, len].map(|number| number as u64);
        let frame = plain(FrameKind::Get, Message::new(HandlerId(0), words));
        let made = self.request(peer, &frame, Asked::Get { into, len, message })?;
        Ok(if made { Begun::Yes } else { Begun::Busy })
    }
}

impl Transport for Calls {
    type Endpoint = CallEnd;
    const NAME: &'static str = "grpc";
    const MEANING: &'static str = "gRPC (tonic), every request a call";
    const CAN: Can = Can { block: true, ranks: 64, hosts: true, ..Can::USUAL };

    fn connect(
        _inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut Rendezvous<'_>,
    ) -> Result<CallEnd, CommError> {
        let first = tcp_peers(meeting)?.into_iter();
        let both = first.zip(tcp_peers(meeting)?).map(|(first, second)| [first, second]);
        CallEnd::over(meeting.rank, both, exposed, meeting.deadline)
    }
}

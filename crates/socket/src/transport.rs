//! Transports over sockets: all that does not depend on the kind of socket.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bandgap_comm::Yields::{Bytes, HalfRoundTrip};
use bandgap_comm::passing::Tuning;
use bandgap_comm::{
    Bare, BareEnd, Can, CommError, Credited, DEFAULT_CREDITS, Floor, FloorError, Measuring,
    Rendezvous, Stamper, Timer, Transport, Yardstick,
};

use crate::connect::mesh;
use crate::floor::{STREAM_BYTES, ping_pong, stream};
use crate::{Kind, Socket, SocketError, SocketLink, Stamped};

/// How message passing cuts messages. Pieces are four times as long as in mapped memory, since each
/// one costs both sides a system call. Fewer are under way at a time, so that they still fit
/// into the nearest caches.
const TUNING: Tuning = Tuning { chunk: 128 << 10, slots: 4, request: 128 << 10 };

/// The transport over a kind of socket.
pub struct Over<K>(PhantomData<K>);

impl<K: Kind> Over<K> {
    /// Connects this rank with all others: a socket for each peer, in the order of ranks.
    ///
    /// # Errors
    /// A peer did not come before the deadline, or the operating system refused.
    pub fn sockets(meeting: &mut dyn Rendezvous) -> Result<Vec<Socket>, CommError> {
        mesh::<K>(meeting)
    }
}

impl<K: Kind> Transport for Over<K> {
    type Endpoint = Credited<SocketLink<Socket>>;

    const NAME: &'static str = K::NAME;
    const MEANING: &'static str = K::MEANING;
    const CAN: Can =
        Can { block: true, tuning: TUNING, compared: true, hosts: K::HOSTS, ..Can::USUAL };

    fn connect(
        _inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut dyn Rendezvous,
    ) -> Result<Self::Endpoint, CommError> {
        let link = SocketLink::over(meeting.rank(), Self::sockets(meeting)?)?;
        Ok(Credited::new(link.exposing(exposed), DEFAULT_CREDITS))
    }
}

impl<K: Kind> bandgap_comm::Stamped for Over<K> {
    type Stamped<T: Timer> = Credited<SocketLink<Stamped<Socket, T>>>;

    fn stamped<T: Timer>(
        meeting: &mut dyn Rendezvous,
        stamper: &Rc<Stamper<T>>,
    ) -> Result<Self::Stamped<T>, CommError> {
        let stream = |stream| Stamped::over(stream, Rc::clone(stamper));
        let streams = Self::sockets(meeting)?.into_iter().map(stream).collect();
        let link = SocketLink::over(meeting.rank(), streams)?;
        Ok(Credited::new(link, DEFAULT_CREDITS))
    }
}

impl<K: Kind> Bare for Over<K> {
    const FLOORS: &'static [Floor] = K::FLOORS;
    const YARDSTICKS: &'static [Yardstick] = K::YARDSTICKS;

    fn bare<T: Timer>(
        _inherited: Vec<OwnedFd>,
        meeting: &mut dyn Rendezvous,
    ) -> Result<Box<dyn BareEnd<T>>, CommError> {
        let socket = Self::sockets(meeting)?.into_iter().next();
        let socket = socket.ok_or_else(|| SocketError::Missing(vec![1]))?;
        Ok(Box::new(BareSocket { socket, number: 0 }))
    }
}

/// One rank's bare socket to the other.
struct BareSocket {
    socket: Socket,
    /// That of the last round of a ping-pong.
    number: u64,
}

impl<T: Timer> BareEnd<T> for BareSocket {
    fn measure(&mut self, floor: &Floor, with: &Measuring<'_, T>) -> Result<Vec<u64>, FloorError> {
        let measured = if floor.yields.bytes().is_some() {
            stream(&self.socket, with)
        } else {
            ping_pong(&self.socket, with, &mut self.number)
        };
        measured.map_err(|error| FloorError::Failed(Box::new(error)))
    }
}

/// Results that are compared with the floor of 8 bytes there and back.
pub(crate) const fn words(floor: &'static str) -> Yardstick {
    Yardstick { floor, results: &["signature", "echo", "comms1"] }
}

/// Results that are compared with the floor of [`STREAM_BYTES`] one way. A store and a get are such bytes one way and a short
/// message the other, as the floor is.
pub(crate) const fn streams(floor: &'static str) -> Yardstick {
    Yardstick { floor, results: &["echo", "comms1", "bulk_store", "bulk_get"] }
}

/// The floor of 8 bytes there and back.
pub(crate) const fn word(name: &'static str, meaning: &'static str) -> Floor {
    Floor::new(name, meaning, HalfRoundTrip, 20)
}

/// The layer of a request and its reply.
pub(crate) const fn message(
    name: &'static str,
    meaning: &'static str,
    over: &'static [Cow<'static, str>],
) -> Floor {
    Floor::layer(name, meaning, HalfRoundTrip, 20, over, "ping_pong")
}

/// The floor of [`STREAM_BYTES`] one way.
pub(crate) const fn bytes(name: &'static str, meaning: &'static str) -> Floor {
    Floor::new(name, meaning, Bytes(STREAM_BYTES as u64), 8)
}

/// The layer of a store of [`STREAM_BYTES`].
pub(crate) const fn store(
    name: &'static str,
    meaning: &'static str,
    over: &'static [Cow<'static, str>],
) -> Floor {
    Floor::layer(name, meaning, Bytes(STREAM_BYTES as u64), 8, over, "store")
}

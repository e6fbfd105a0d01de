//! What bare sockets allow: plain loops over connected, non-blocking sockets.
//!
//! They do the least that any program over these sockets has to do, with the same system calls as
//! the link. Both sides run the same function, in opposite [`FloorRole`](bandgap_comm::FloorRole)s and with
//! the same [`Window`](bandgap_comm::Window), which says how many rounds a sample times. The
//! initiator gets the timer's ticks for each sample, including the cost of the timer; the responder
//! gets an empty list.

mod bandwidth;
mod ping_pong;
mod side;
mod udp;

use std::marker::PhantomData;
use std::os::fd::OwnedFd;

use bandgap_comm::{Bare, CommError, Floor, Measuring, Rendezvous, Timer, Yields};

pub use bandwidth::{STREAM_BYTES, long_ping_pong, stream};
pub use ping_pong::ping_pong;
pub use udp::Udp;

use crate::connect::mesh;
use crate::{Socket, SocketError, SocketKind};

/// The ticks of each sample; of none on the side that takes no time.
pub type Ticks = Result<Vec<u64>, SocketError>;

/// One rank's bare sockets of a kind to the other: one for each floor, since a connection that carried long messages may
/// be slower for shorter ones.
#[derive(Debug)]
pub struct BareSocket<K> {
    sockets: Vec<Socket>,
    kind: PhantomData<K>,
    /// That of the last round of a ping-pong.
    number: u64,
}

impl<K: SocketKind> Bare for BareSocket<K> {
    const NAME: &'static str = K::NAME;
    const HOSTS: bool = K::HOSTS;
    const FLOORS: &'static [Floor] = K::FLOORS;

    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self, CommError> {
        let mut own = || -> Result<Socket, CommError> {
            let socket = mesh::<K>(meeting)?.into_iter().next();
            Ok(socket.ok_or_else(|| SocketError::Missing(vec![1]))?)
        };
        let sockets = K::FLOORS.iter().map(|_| own()).collect::<Result<_, _>>()?;
        Ok(Self { sockets, kind: PhantomData, number: 0 })
    }

    fn measure(
        &mut self,
        floor: &str,
        bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>, CommError> {
        let own = K::FLOORS.iter().position(|known| known.name == floor).unwrap_or_default();
        let socket = &self.sockets[own];
        Ok(match floor {
            _ if floor == K::NAME => ping_pong(socket, with, &mut self.number)?,
            _ if floor.ends_with("_stream") => stream(socket, with)?,
            _ => long_ping_pong(socket, bytes, with)?,
        })
    }
}

/// Results that are compared with the floor of 8 bytes there and back.
pub(crate) const WORDS: &[&str] = &["signature", "echo", "comms1"];

/// Results that are compared with the floors of long messages there and back.
pub(crate) const LONG: &[&str] = &["echo", "comms1"];

/// Results that are compared with the floor of [`STREAM_BYTES`] one way. A store and a get are such
/// bytes one way and a short message the other, as the floor is.
pub(crate) const STREAMS: &[&str] = &["bulk_store", "bulk_get"];

/// What a round of that floor yields.
pub(crate) const STREAMED: Yields = Yields::Bytes(STREAM_BYTES as u64);

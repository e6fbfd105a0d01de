//! Connects ranks over TCP on the loopback interface.

use std::borrow::Cow::Borrowed;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use bandgap_comm::Yields::{Bytes, HalfRoundTrip};
use bandgap_comm::{Bare, Can, CommError, Connected, Floor, Rank, Rendezvous, Timer, Transport};

use crate::connect::{Listen, Secret, mesh};
use crate::error::system;
use crate::floor::STREAM_BYTES;
use crate::transport::{BareStream, can, finish, unconnected};
use crate::{SocketError, SocketLink};

/// A socket that listens only on the loopback interface.
#[derive(Debug)]
pub struct Listener(TcpListener);

impl Listener {
    /// Listens on a port that the system chooses. Also returns the address, to tell the others.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn bind_loopback() -> Result<(Self, String), SocketError> {
        let operation = "listen on the loopback interface";
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(system(operation))?;
        listener.set_nonblocking(true).map_err(system(operation))?;
        let address = listener.local_addr().map_err(system(operation))?;
        Ok((Self(listener), address.to_string()))
    }
}

/// Connects `rank` to all others by their listeners' addresses, in the order of ranks. The listener
/// closes when this returns.
///
/// # Errors
/// An address is invalid, a rank did not connect before `deadline`, something else answers in its
/// place, or the operating system refused.
pub fn connect(
    rank: Rank,
    size: usize,
    listener: Listener,
    addresses: &[String],
    secret: Secret,
    deadline: Instant,
) -> Result<SocketLink<TcpStream>, SocketError> {
    let addresses: Vec<SocketAddr> =
        addresses.iter().map(|text| parse(text)).collect::<Result<_, _>>()?;
    mesh(rank, size, listener.0, &addresses, secret, deadline)
}

/// Parses a socket address of this machine's loopback interface.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, SocketError> {
    let address: Option<SocketAddr> = text.parse().ok();
    let address = address.filter(|address| address.ip().is_loopback());
    address.ok_or_else(|| SocketError::Address { text: text.to_owned() })
}

impl Listen for TcpListener {
    type Stream = TcpStream;
    type Address = SocketAddr;

    fn accept(&self) -> io::Result<TcpStream> {
        self.accept().map(|(stream, _)| stream)
    }

    fn connect(address: &SocketAddr, timeout: Duration) -> io::Result<Option<TcpStream>> {
        match TcpStream::connect_timeout(address, timeout) {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The system does not tell who owns a TCP socket, so only the secret protects it.
    fn is_own(_stream: &TcpStream) -> io::Result<bool> {
        Ok(true)
    }
}

/// TCP over the loopback interface.
#[derive(Debug)]
pub struct Tcp;

impl Transport for Tcp {
    const NAME: &'static str = "tcp";
    const MEANING: &'static str = "TCP over the loopback interface";
    const CAN: Can = can("tcp", true);
    const FLOORS: &'static [Floor] = &[
        Floor::new("tcp", "8 bytes over TCP, half a round trip", HalfRoundTrip, 20),
        Floor::layer(
            "active_message_tcp",
            "request and reply over TCP, half round trip",
            HalfRoundTrip,
            20,
            &[Borrowed("tcp")],
            "ping_pong",
        ),
        Floor::new("tcp_stream", "1 MiB over TCP and an answer", Bytes(STREAM_BYTES as u64), 8),
        Floor::layer(
            "bulk_store_tcp_1mib",
            "store of 1 MiB over TCP",
            Bytes(STREAM_BYTES as u64),
            8,
            &[Borrowed("tcp_stream")],
            "store",
        ),
    ];

    fn connect<C: Connected>(
        _inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut dyn Rendezvous,
        then: C,
    ) -> Result<C::Output, CommError> {
        let link = meet(meeting)?;
        Ok(finish(link, exposed, then))
    }

    fn bare<T: Timer + 'static>(
        _inherited: Vec<OwnedFd>,
        meeting: &mut dyn Rendezvous,
    ) -> Result<Box<dyn Bare<T>>, CommError> {
        let link = meet(meeting)?;
        Ok(Box::new(BareStream::of(link.into_streams())?))
    }
}

/// Listens, tells the others where, and connects with all of them.
fn meet(meeting: &mut dyn Rendezvous) -> Result<SocketLink<TcpStream>, CommError> {
    let (listener, address) = Listener::bind_loopback().map_err(unconnected)?;
    let all = meeting.exchange(address)?;
    let (rank, size, secret) = (meeting.rank(), meeting.size(), meeting.secret());
    let link = connect(rank, size, listener, &all, secret, meeting.deadline());
    link.map_err(unconnected)
}

//! Connects ranks over Unix stream sockets, with names that are not in the file system.

use std::borrow::Cow::Borrowed;
use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use bandgap_comm::Yields::{Bytes, HalfRoundTrip};
use bandgap_comm::{Bare, Can, CommError, Connected, Floor, Rank, Rendezvous, Timer, Transport};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::connect::{Listen, Secret, mesh};
use crate::error::system;
use crate::floor::STREAM_BYTES;
use crate::transport::{BareStream, can, finish, unconnected};
use crate::{SocketError, SocketLink};

/// A socket that listens at a name in the abstract namespace. The name vanishes with it.
#[derive(Debug)]
pub struct Listener(UnixListener);

impl Listener {
    /// Listens at `name`: at most 107 bytes that nobody else chooses, such as random ones.
    ///
    /// # Errors
    /// The name is taken or too long, or the operating system refused.
    pub fn bind(name: &[u8]) -> Result<Self, SocketError> {
        let bind = || {
            let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
            listener.set_nonblocking(true)?;
            io::Result::Ok(Self(listener))
        };
        bind().map_err(system("listen at a name in the abstract namespace"))
    }

    /// Listens at a random name; returns it, to tell the others.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn bind_unguessable() -> Result<(Self, String), SocketError> {
        let mut bytes = [0; 16];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(system("draw a random name"))?;
        let name = format!("bandgap-{:032x}", u128::from_le_bytes(bytes));
        Ok((Self::bind(name.as_bytes())?, name))
    }
}

/// Connects `rank` to all others by their listeners' names, in the order of ranks. Waits for a
/// listener that does not exist yet. The listener closes when this returns. Processes of other
/// users are not let in.
///
/// # Errors
/// A rank did not connect before `deadline`, something else answers in its place, or the operating
/// system refused.
pub fn connect<N: AsRef<[u8]>>(
    rank: Rank,
    size: usize,
    listener: Listener,
    names: &[N],
    secret: Secret,
    deadline: Instant,
) -> Result<SocketLink<UnixStream>, SocketError> {
    let address = |name: &N| SocketAddrUnix::new_abstract_name(name.as_ref());
    let addresses = names.iter().map(address).collect::<Result<Vec<_>, _>>();
    let addresses = addresses.map_err(system("use a name of the abstract namespace"))?;
    mesh(rank, size, listener.0, &addresses, secret, deadline)
}

impl Listen for UnixListener {
    type Stream = UnixStream;
    type Address = SocketAddrUnix;

    fn accept(&self) -> io::Result<UnixStream> {
        self.accept().map(|(stream, _)| stream)
    }

    fn connect(address: &SocketAddrUnix, _timeout: Duration) -> io::Result<Option<UnixStream>> {
        // The standard library's call would wait for room at the listener for ever.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = SocketType::STREAM;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
        match rustix::net::connect(&socket, address) {
            Ok(()) => Ok(Some(UnixStream::from(socket))),
            Err(Errno::AGAIN | Errno::CONNREFUSED | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn is_own(stream: &UnixStream) -> io::Result<bool> {
        let other = rustix::net::sockopt::socket_peercred(stream)?;
        Ok(other.uid == rustix::process::geteuid())
    }
}

/// Unix stream sockets.
#[derive(Debug)]
pub struct Unix;

impl Transport for Unix {
    const NAME: &'static str = "unix";
    const MEANING: &'static str = "Unix stream sockets";
    const CAN: Can = can("unix", true);
    const FLOORS: &'static [Floor] = &[
        Floor::new("unix", "8 bytes over a Unix socket, half a round trip", HalfRoundTrip, 20),
        Floor::layer(
            "active_message_unix",
            "request and reply over a Unix socket, half round trip",
            HalfRoundTrip,
            20,
            &[Borrowed("unix")],
            "ping_pong",
        ),
        Floor::new(
            "unix_stream",
            "1 MiB over a Unix socket and an answer",
            Bytes(STREAM_BYTES as u64),
            8,
        ),
        Floor::layer(
            "bulk_store_unix_1mib",
            "store of 1 MiB over a Unix socket",
            Bytes(STREAM_BYTES as u64),
            8,
            &[Borrowed("unix_stream")],
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
fn meet(meeting: &mut dyn Rendezvous) -> Result<SocketLink<UnixStream>, CommError> {
    let (listener, name) = Listener::bind_unguessable().map_err(unconnected)?;
    let all = meeting.exchange(name)?;
    let (rank, size, secret) = (meeting.rank(), meeting.size(), meeting.secret());
    let link = connect(rank, size, listener, &all, secret, meeting.deadline());
    link.map_err(unconnected)
}

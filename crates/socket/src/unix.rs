//! Ranks connected over Unix stream sockets, with names that are nowhere on the file system.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use bandgap_comm::Rank;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::connect::{Listen, Secret, mesh};
use crate::error::system;
use crate::{SocketError, SocketLink};

/// A socket that listens at a name in the abstract namespace, which vanishes with it.
#[derive(Debug)]
pub struct Listener(UnixListener);

impl Listener {
    /// Listens at `name`: bytes that nobody else chooses, such as random ones, at most 107.
    ///
    /// # Errors
    /// The name is taken or too long, or the operating system refused otherwise.
    pub fn bind(name: &[u8]) -> Result<Self, SocketError> {
        let bind = || UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?);
        bind().map(Self).map_err(system("listen at a name in the abstract namespace"))
    }
}

/// Connects `rank` with all others by their listeners' names, in the order of ranks; a listener
/// that is not there yet is waited for. The listener closes when this returns. Processes of other
/// users are not let in.
///
/// # Errors
/// A rank did not appear before `deadline`, or another answers in its place; the operating system
/// refused.
pub fn connect<N: AsRef<[u8]>>(
    rank: Rank,
    size: usize,
    listener: Listener,
    names: &[N],
    secret: Secret,
    deadline: Instant,
) -> Result<SocketLink<UnixStream>, SocketError> {
    if names.len() != size {
        return Err(SocketError::Addresses { addresses: names.len(), size });
    }
    let address = |name: &N| SocketAddrUnix::new_abstract_name(name.as_ref());
    let addresses = names.iter().map(address).collect::<Result<Vec<_>, _>>();
    let addresses = addresses.map_err(system("use a name of the abstract namespace"))?;
    mesh(rank, listener, &addresses, secret, deadline)
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Listen for Listener {
    type Stream = UnixStream;
    type Address = SocketAddrUnix;

    fn prepare(&self) -> io::Result<()> {
        self.0.set_nonblocking(true)
    }

    fn accept(&self) -> io::Result<UnixStream> {
        self.0.accept().map(|(stream, _)| stream)
    }

    fn connect(address: &SocketAddrUnix, _timeout: Duration) -> io::Result<Option<UnixStream>> {
        // Not by the standard library, whose call would wait for room at the listener for ever.
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

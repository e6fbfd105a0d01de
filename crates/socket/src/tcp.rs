//! Ranks connected over TCP on the loopback interface.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use bandgap_comm::Rank;

use crate::connect::{Listen, Secret, mesh};
use crate::error::system;
use crate::{SocketError, SocketLink};

/// A socket that listens on the loopback interface only.
#[derive(Debug)]
pub struct Listener(TcpListener);

impl Listener {
    /// Listens on a port that the system chooses; returns the address to tell the others.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn bind_loopback() -> Result<(Self, String), SocketError> {
        let operation = "listen on the loopback interface";
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(system(operation))?;
        let address = listener.local_addr().map_err(system(operation))?;
        Ok((Self(listener), address.to_string()))
    }
}

/// Connects `rank` with all others by their listeners' addresses, in the order of ranks. The
/// listener closes when this returns.
///
/// # Errors
/// An address is none; a rank did not appear before `deadline`, or another answers in its place;
/// the operating system refused.
pub fn connect(
    rank: Rank,
    size: usize,
    listener: Listener,
    addresses: &[String],
    secret: Secret,
    deadline: Instant,
) -> Result<SocketLink<TcpStream>, SocketError> {
    if addresses.len() != size {
        return Err(SocketError::Addresses { addresses: addresses.len(), size });
    }
    let addresses: Vec<SocketAddr> =
        addresses.iter().map(|text| parse(text)).collect::<Result<_, _>>()?;
    mesh(rank, listener, &addresses, secret, deadline)
}

/// A socket address of this machine's loopback interface.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, SocketError> {
    let address: Option<SocketAddr> = text.parse().ok();
    let address = address.filter(|address| address.ip().is_loopback());
    address.ok_or_else(|| SocketError::Address { text: text.to_owned() })
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Listen for Listener {
    type Stream = TcpStream;
    type Address = SocketAddr;

    fn prepare(&self) -> io::Result<()> {
        self.0.set_nonblocking(true)
    }

    fn accept(&self) -> io::Result<TcpStream> {
        self.0.accept().map(|(stream, _)| stream)
    }

    fn connect(address: &SocketAddr, timeout: Duration) -> io::Result<Option<TcpStream>> {
        match TcpStream::connect_timeout(address, timeout) {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The system does not tell whose a TCP socket is: the secret has to do.
    fn is_own(_stream: &TcpStream) -> io::Result<bool> {
        Ok(true)
    }
}

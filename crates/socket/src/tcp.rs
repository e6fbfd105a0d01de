//! TCP.

use std::borrow::Cow::Borrowed;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use bandgap_comm::{CommError, Floor, Rank, Rendezvous, Yardstick};

use crate::connect::{Listen, address, mesh};
use crate::error::system;
use crate::transport::{bytes, message, store, streams, word, words};
use crate::{Kind, Over, Result};

/// TCP, between hosts or over the loopback interface.
pub type Tcp = Over<TcpStream>;

impl Kind for TcpStream {
    const NAME: &'static str = "tcp";
    const MEANING: &'static str = "TCP";
    const FLOORS: &'static [Floor] = &[
        word("tcp", "8 bytes over TCP, half a round trip"),
        message(
            "active_message_tcp",
            "request and reply over TCP, half round trip",
            &[Borrowed("tcp")],
        ),
        bytes("tcp_stream", "1 MiB over TCP and an answer"),
        store("bulk_store_tcp_1mib", "store of 1 MiB over TCP", &[Borrowed("tcp_stream")]),
    ];
    const YARDSTICKS: &'static [Yardstick] = &[words("tcp"), streams("tcp_stream")];

    type Stream = Self;

    fn sockets(meeting: &mut dyn Rendezvous) -> Result<Vec<Self>, CommError> {
        mesh::<TcpListener>(meeting)
    }

    fn stream(self, _meeting: &dyn Rendezvous, _peer: Rank) -> Result<Self> {
        Ok(self)
    }
}

impl Listen for TcpListener {
    type Stream = TcpStream;
    type Address = SocketAddr;

    fn bind(interface: IpAddr) -> Result<(Self, String)> {
        let operation = "listen at the interface's address";
        let listener = Self::bind((interface, 0)).map_err(system(operation))?;
        listener.set_nonblocking(true).map_err(system(operation))?;
        let address = listener.local_addr().map_err(system(operation))?;
        Ok((listener, address.to_string()))
    }

    fn address(text: &str) -> Result<SocketAddr> {
        address(text)
    }

    fn connect(address: &SocketAddr, timeout: Duration) -> io::Result<Option<TcpStream>> {
        match TcpStream::connect_timeout(address, timeout) {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The system does not tell who owns a TCP socket, so only the proof of the secret protects it.
    fn is_own(_stream: &TcpStream) -> io::Result<bool> {
        Ok(true)
    }

    fn prepare(stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)
    }
}

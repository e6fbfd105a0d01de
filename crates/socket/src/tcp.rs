//! TCP.

use std::borrow::Cow::Borrowed;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use bandgap_comm::Floor;
use bandgap_comm::Yields::{BytesEachWay, HalfRoundTrip};
use rustix::net::sockopt::set_tcp_nodelay;

use crate::connect::address;
use crate::error::system;
use crate::floor::{LONG, STREAMED, STREAMS, WORDS};
use crate::{Over, Result, SocketKind};

/// TCP, between hosts or over the loopback interface.
pub type Tcp = Over<TcpListener>;

impl SocketKind for TcpListener {
    const NAME: &'static str = "tcp";
    const MEANING: &'static str = "TCP";
    const HOSTS: bool = true;
    #[rustfmt::skip] // One line each.
    const FLOORS: &'static [Floor] = &[
        Floor::new("tcp", "8 bytes over TCP, half a round trip", HalfRoundTrip, 20).compared(WORDS),
        Floor::new("active_message_tcp", "request and reply over TCP, half round trip", HalfRoundTrip, 20).layer(&[Borrowed("tcp")], "ping_pong"),
        Floor::new("tcp_64kib", "64 KiB over TCP, half a round trip", BytesEachWay(64 << 10), 8).compared(LONG),
        Floor::new("tcp_1mib", "1 MiB over TCP, half a round trip", BytesEachWay(1 << 20), 2).compared(LONG),
        Floor::new("tcp_4mib", "4 MiB over TCP, half a round trip", BytesEachWay(4 << 20), 1).compared(LONG),
        Floor::new("tcp_stream", "1 MiB over TCP and an answer", STREAMED, 8).compared(STREAMS),
        Floor::new("bulk_store_tcp_1mib", "store of 1 MiB over TCP", STREAMED, 8).layer(&[Borrowed("tcp_stream")], "store"),
    ];

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

    fn connect(address: &SocketAddr, timeout: Duration) -> io::Result<Option<OwnedFd>> {
        match TcpStream::connect_timeout(address, timeout) {
            Ok(stream) => Ok(Some(stream.into())),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The system does not tell who owns a TCP socket, so only the proof of the secret protects it.
    fn admit(stream: &OwnedFd) -> io::Result<bool> {
        set_tcp_nodelay(stream, true)?;
        Ok(true)
    }
}

//! TCP.

use std::borrow::Cow::Borrowed;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use bandgap_comm::{Floor, Yardstick};
use rustix::net::sockopt::set_tcp_nodelay;

use crate::connect::address;
use crate::error::system;
use crate::transport::{bytes, message, store, streams, word, words};
use crate::{Kind, Over, Result};

/// TCP, between hosts or over the loopback interface.
pub type Tcp = Over<TcpListener>;

impl Kind for TcpListener {
    const NAME: &'static str = "tcp";
    const MEANING: &'static str = "TCP";
    const HOSTS: bool = true;
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

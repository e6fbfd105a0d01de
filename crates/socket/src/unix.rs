//! Unix stream sockets, with names that are not in the file system.

use std::borrow::Cow::Borrowed;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

use bandgap_comm::Floor;
use bandgap_comm::Yields::{BytesEachWay, HalfRoundTrip};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::connect::nonce;
use crate::error::system;
use crate::floor::{LONG, STREAMED, STREAMS, WORDS};
use crate::{Over, Result, SocketKind};

/// Unix stream sockets. Processes of other users are not let in.
pub type Unix = Over<UnixListener>;

impl SocketKind for UnixListener {
    const NAME: &'static str = "unix";
    const MEANING: &'static str = "Unix stream sockets";
    const HOSTS: bool = false;
    #[rustfmt::skip] // One line each.
    const FLOORS: &'static [Floor] = &[
        Floor::new("unix", "8 bytes over a Unix socket, half a round trip", HalfRoundTrip, 20).compared(WORDS),
        Floor::new("active_message_unix", "request and reply over a Unix socket, half round trip", HalfRoundTrip, 20).layer(&[Borrowed("unix")], "ping_pong"),
        Floor::new("unix_64kib", "64 KiB over a Unix socket, half a round trip", BytesEachWay(64 << 10), 8).compared(LONG),
        Floor::new("unix_1mib", "1 MiB over a Unix socket, half a round trip", BytesEachWay(1 << 20), 2).compared(LONG),
        Floor::new("unix_4mib", "4 MiB over a Unix socket, half a round trip", BytesEachWay(4 << 20), 1).compared(LONG),
        Floor::new("unix_stream", "1 MiB over a Unix socket and an answer", STREAMED, 8).compared(STREAMS),
        Floor::new("bulk_store_unix_1mib", "store of 1 MiB over a Unix socket", STREAMED, 8).layer(&[Borrowed("unix_stream")], "store"),
    ];

    type Address = SocketAddrUnix;

    /// Listens at a random name in the abstract namespace. The name vanishes with the listener.
    fn bind(_interface: IpAddr) -> Result<(Self, String)> {
        let number = nonce().map_err(system("draw a random name"))?;
        let name = format!("bandgap-{:032x}", u128::from_le_bytes(number));
        let bind = || {
            let listener = Self::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
            listener.set_nonblocking(true)?;
            io::Result::Ok(listener)
        };
        let listener = bind().map_err(system("listen at a name in the abstract namespace"))?;
        Ok((listener, name))
    }

    fn address(text: &str) -> Result<SocketAddrUnix> {
        let address = SocketAddrUnix::new_abstract_name(text.as_bytes());
        address.map_err(system("use a name of the abstract namespace"))
    }

    fn connect(address: &SocketAddrUnix, _timeout: Duration) -> io::Result<Option<OwnedFd>> {
        // The standard library's call would wait for room at the listener for ever.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = SocketType::STREAM;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
        match rustix::net::connect(&socket, address) {
            Ok(()) => Ok(Some(socket)),
            Err(Errno::AGAIN | Errno::CONNREFUSED | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn admit(stream: &OwnedFd) -> io::Result<bool> {
        let other = rustix::net::sockopt::socket_peercred(stream)?;
        Ok(other.uid == rustix::process::geteuid())
    }
}

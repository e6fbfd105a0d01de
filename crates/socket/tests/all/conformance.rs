//! Credits over sockets pass the suite.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use crate::mesh;
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_conformance::conforms;
use bandgap_socket::SocketLink;

conforms!(endpoint tcp(size, exposed) -> Credited<SocketLink<TcpStream>> {
    mesh::credited(mesh::tcp(size), exposed, DEFAULT_CREDITS)
});
conforms!(endpoint unix(size, exposed) -> Credited<SocketLink<UnixStream>> {
    mesh::credited(mesh::unix(size), exposed, DEFAULT_CREDITS)
});
conforms!(
    /// More credits than the kernel's buffers have room for.
    endpoint tiny_buffers(size, exposed) -> Credited<SocketLink<UnixStream>> {
        mesh::credited(mesh::tiny(size), exposed, 1000)
    }
);

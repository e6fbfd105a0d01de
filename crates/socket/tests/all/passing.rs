//! Message passing over sockets passes the suite.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use bandgap_comm::passing::Tuning;
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_conformance::conforms;
use bandgap_socket::SocketLink;

use crate::mesh;

conforms!(passing tcp(size, exposed) -> Credited<SocketLink<TcpStream>> {
    mesh::credited(mesh::tcp(size), exposed, DEFAULT_CREDITS)
});
conforms!(
    /// Hardly a piece fits in a socket at once, and hardly a message in a piece.
    passing tiny_buffers(size, exposed) -> Credited<SocketLink<UnixStream>> {
        mesh::credited(mesh::tiny(size), exposed, 2)
    } {
        const TUNING: Tuning = Tuning { chunk: 1024, slots: 2, request: 200 };
    }
);

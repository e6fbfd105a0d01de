//! Message passing over sockets passes the suite.

use bandgap_comm::passing::Tuning;
use bandgap_comm::{AnyEndpoint, Credited};
use bandgap_conformance::conforms;
use bandgap_socket::{Socket, SocketLink};

use crate::mesh;

conforms!(passing tcp(size, exposed) -> AnyEndpoint { mesh::boxed(mesh::tcp(size), exposed) });
conforms!(
    /// Hardly a piece fits in a socket at once, and hardly a message in a piece.
    passing tiny_buffers(size, exposed) -> Credited<SocketLink<Socket>> {
        mesh::credited(mesh::tiny(size), exposed, 2)
    } {
        const TUNING: Tuning = Tuning { chunk: 1024, slots: 2, request: 200 };
    }
);

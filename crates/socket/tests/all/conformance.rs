//! Credits over sockets pass the suite.

use crate::mesh;
use bandgap_comm::{AnyEndpoint, Credited};
use bandgap_conformance::conforms;
use bandgap_socket::{Socket, SocketLink};

conforms!(endpoint tcp(size, exposed) -> AnyEndpoint { mesh::boxed(mesh::tcp(size), exposed) });
conforms!(endpoint unix(size, exposed) -> AnyEndpoint { mesh::boxed(mesh::unix(size), exposed) });
conforms!(
    /// More credits than the kernel's buffers have room for.
    endpoint tiny_buffers(size, exposed) -> Credited<SocketLink<Socket>> {
        mesh::credited(mesh::tiny(size), exposed, 1000)
    }
);

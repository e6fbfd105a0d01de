//! Credits over sockets pass the suite.

use crate::mesh;
use bandgap_comm::DEFAULT_CREDITS;
use bandgap_conformance::conforms;

conforms!(endpoint tcp(size, exposed) { mesh::credited(mesh::tcp(size), exposed, DEFAULT_CREDITS) });
conforms!(endpoint unix(size, exposed) { mesh::credited(mesh::unix(size), exposed, DEFAULT_CREDITS) });
conforms!(
    /// More credits than the kernel's buffers have room for.
    endpoint tiny_buffers(size, exposed) {
        mesh::credited(mesh::tiny(size), exposed, 1000)
    }
);

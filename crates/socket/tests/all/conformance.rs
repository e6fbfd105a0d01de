//! The transports over sockets pass the suite, and so do credits where the kernel's buffers are smaller than these.

use crate::mesh;
use bandgap_conformance::conforms;
use bandgap_socket::{tcp::Tcp, unix::Unix};

conforms!(transport tcp: Tcp);
conforms!(transport unix: Unix);
conforms!(endpoint tiny_buffers(size, exposed) {
    mesh::credited(mesh::tiny(size), exposed, 1000)
});

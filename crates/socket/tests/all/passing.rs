//! Message passing over sockets whose buffers are tiny passes the suite.

use bandgap_comm::passing::Tuning;
use bandgap_conformance::conforms;

use crate::mesh;

conforms!(
    /// Hardly a piece fits in a socket at once, and hardly a message in a piece.
    passing tiny_buffers(size, exposed) { mesh::credited(mesh::tiny(size), exposed, 2) } {
        tuning: Tuning { chunk: 1024, slots: 0, request: 1024 }
    }
);

//! Message passing over sockets passes the suite.

use bandgap_comm::DEFAULT_CREDITS;
use bandgap_comm::passing::Tuning;
use bandgap_conformance::conforms;

use crate::mesh;

conforms!(passing tcp(size, exposed) { mesh::credited(mesh::tcp(size), exposed, DEFAULT_CREDITS) });
conforms!(
    /// Hardly a piece fits in a socket at once, and hardly a message in a piece.
    passing tiny_buffers(size, exposed) {
        mesh::credited(mesh::tiny(size), exposed, 2)
    } {
        tuning: Tuning { chunk: 1024, slots: 2, request: 200 }
    }
);

//! Message passing over sockets passes the suite.

use bandgap_comm::DEFAULT_CREDITS;
use bandgap_comm::passing::Tuning;
use bandgap_conformance::conforms;

use crate::mesh;

conforms!(passing tcp(size, exposed) { mesh::credited(mesh::tcp(size), exposed, DEFAULT_CREDITS) });
conforms!(
    /// Requests carry the bytes, as those of the transports do.
    passing carried(size, exposed) { mesh::credited(mesh::tcp(size), exposed, DEFAULT_CREDITS) } {
        tuning: CARRIED
    }
);
conforms!(
    /// Hardly a piece fits in a socket at once, and hardly a message in a piece.
    passing tiny_buffers(size, exposed) {
        mesh::credited(mesh::tiny(size), exposed, 2)
    } {
        tuning: CARRIED
    }
);

const CARRIED: Tuning = Tuning { chunk: 1024, slots: 0, request: 1024 };

//! The transports over sockets pass the suite, and so do credits beyond what the kernel's buffers hold.

use std::os::fd::OwnedFd;
use std::panic::catch_unwind;

use crate::mesh;
use bandgap_comm::passing::Tuning;
use bandgap_comm::{Can, CommError, Rendezvous, Transport};
use bandgap_conformance::{Harness, conforms, nobody_gets_in_without_the_secret};
use bandgap_socket::{tcp::Tcp, unix::Unix};

conforms!(transport tcp: Tcp { tuning: CARRIED });
conforms!(transport unix: Unix { tuning: CARRIED });
conforms!(endpoint tiny_buffers(size, exposed) {
    mesh::credited(mesh::tiny(size), exposed, 1000)
});

conforms!(
    /// Hardly a piece fits in a socket at once, and hardly a message in a piece.
    passing tiny_passing(size, exposed) { mesh::credited(mesh::tiny(size), exposed, 2) } {
        tuning: CARRIED
    }
);

/// Requests carry the bytes, as those of the transports do, and fewer at once.
const CARRIED: Tuning = Tuning { chunk: 1024, slots: 0, request: 1024 };

/// TCP between ranks that all know the same secret, whatever their run's is.
struct Open;

impl Transport for Open {
    type Endpoint = <Tcp as Transport>::Endpoint;

    const NAME: &'static str = "open";
    const MEANING: &'static str = "TCP that lets anybody in";
    const CAN: Can = Tcp::CAN;

    fn connect(
        inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut Rendezvous<'_>,
    ) -> Result<Self::Endpoint, CommError> {
        meeting.secret = mesh::SECRET;
        Tcp::connect(inherited, exposed, meeting)
    }
}

#[test]
fn a_transport_that_lets_strangers_in_does_not_pass() {
    let open = || nobody_gets_in_without_the_secret::<Open>(&Harness::transport::<Open>());
    assert!(catch_unwind(open).is_err());
}

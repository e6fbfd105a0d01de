//! Message passing over sockets passes the suite.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use bandgap_comm::passing::Tuning;
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_conformance::passing::Harness;
use bandgap_socket::SocketLink;
use bandgap_socket::udp::UdpStream;

use crate::mesh;

mod tcp {
    use super::*;

    struct Tcp;

    impl Harness for Tcp {
        type E = Credited<SocketLink<TcpStream>>;

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            mesh::credited(mesh::tcp(size), exposed, DEFAULT_CREDITS)
        }
    }

    bandgap_conformance::passing_conformance!(Tcp);
}

mod tiny_buffers {
    use super::*;

    /// Hardly a piece fits in a socket at once, and hardly a message in a piece.
    struct Tiny;

    impl Harness for Tiny {
        type E = Credited<SocketLink<UnixStream>>;
        const TUNING: Tuning = Tuning { chunk: 1024, slots: 2, request: 200 };

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            mesh::credited(mesh::tiny(size), exposed, 2)
        }
    }

    bandgap_conformance::passing_conformance!(Tiny);
}

mod udp {
    use super::*;

    struct Udp;

    impl Harness for Udp {
        type E = Credited<SocketLink<UdpStream>>;

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            mesh::credited(mesh::udp(size), exposed, DEFAULT_CREDITS)
        }
    }

    bandgap_conformance::passing_conformance!(Udp);
}

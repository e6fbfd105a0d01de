//! Credits over sockets pass the suite.
#![allow(clippy::unwrap_used)]

mod mesh;

use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use bandgap_comm::conformance::Harness;
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_socket::SocketLink;

fn credited<S: bandgap_socket::Stream>(
    links: Vec<SocketLink<S>>,
    credits: u16,
) -> Vec<Credited<SocketLink<S>>> {
    links.into_iter().map(|link| Credited::new(link, credits)).collect()
}

mod tcp {
    use super::*;

    struct Tcp;

    impl Harness for Tcp {
        type E = Credited<SocketLink<TcpStream>>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            credited(mesh::tcp(size), DEFAULT_CREDITS)
        }
    }

    bandgap_comm::conformance!(Tcp);
}

mod unix {
    use super::*;

    struct Unix;

    impl Harness for Unix {
        type E = Credited<SocketLink<UnixStream>>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            credited(mesh::unix(size), DEFAULT_CREDITS)
        }
    }

    bandgap_comm::conformance!(Unix);
}

mod tiny_buffers {
    use super::*;

    /// More credits than the kernel's buffers have room for.
    struct Tiny;

    impl Harness for Tiny {
        type E = Credited<SocketLink<UnixStream>>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            credited(mesh::tiny(size), 1000)
        }
    }

    bandgap_comm::conformance!(Tiny);
}

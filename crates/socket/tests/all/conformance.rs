//! Credits over sockets pass the suite.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use crate::mesh;
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_conformance::{EXPOSED, Harness};
use bandgap_socket::SocketLink;
use bandgap_socket::udp::UdpStream;

mod tcp {
    use super::*;

    struct Tcp;

    impl Harness for Tcp {
        type E = Credited<SocketLink<TcpStream>>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            mesh::credited(mesh::tcp(size), EXPOSED, DEFAULT_CREDITS)
        }
    }

    bandgap_conformance::conformance!(Tcp);
    bandgap_conformance::bulk_conformance!(Tcp);
}

mod unix {
    use super::*;

    struct Unix;

    impl Harness for Unix {
        type E = Credited<SocketLink<UnixStream>>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            mesh::credited(mesh::unix(size), EXPOSED, DEFAULT_CREDITS)
        }
    }

    bandgap_conformance::conformance!(Unix);
    bandgap_conformance::bulk_conformance!(Unix);
}

mod tiny_buffers {
    use super::*;

    /// More credits than the kernel's buffers have room for.
    struct Tiny;

    impl Harness for Tiny {
        type E = Credited<SocketLink<UnixStream>>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            mesh::credited(mesh::tiny(size), EXPOSED, 1000)
        }
    }

    bandgap_conformance::conformance!(Tiny);
    bandgap_conformance::bulk_conformance!(Tiny);
}

mod udp {
    use super::*;

    struct Udp;

    impl Harness for Udp {
        type E = Credited<SocketLink<UdpStream>>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            mesh::credited(mesh::udp(size), EXPOSED, DEFAULT_CREDITS)
        }
    }

    bandgap_conformance::conformance!(Udp);
    bandgap_conformance::bulk_conformance!(Udp);
}

mod full_windows {
    use super::*;

    /// More credits than datagrams fit into a receive buffer.
    struct Full;

    impl Harness for Full {
        type E = Credited<SocketLink<UdpStream>>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            mesh::credited(mesh::udp(size), EXPOSED, 1000)
        }
    }

    bandgap_conformance::conformance!(Full);
    bandgap_conformance::bulk_conformance!(Full);
}

mod lossy {
    use super::*;

    /// Of eight datagrams one is lost, doubled, overtaken or changed.
    struct LossyUdp;

    impl Harness for LossyUdp {
        type E = Credited<SocketLink<UdpStream<mesh::wire::Wire>>>;
        // The word of farewell may be what is lost.
        const NOTICES_DEPARTURE: bool = false;

        fn endpoints(size: usize) -> Vec<Self::E> {
            mesh::credited(mesh::lossy(size, 8), EXPOSED, DEFAULT_CREDITS)
        }
    }

    // Not `completes_once`, which wants ends to settle within a hundred polls.
    bandgap_conformance::conformance!(@each LossyUdp:
        requests_arrive_once_and_in_order
        replies_keep_to_their_handler
        busy_at_capacity
        flood_both_ways
        replies_find_room
        all_to_all
        fan_in
        no_such_peer
        unknown_handler_names_the_rank
        random_schedules
    );
    bandgap_conformance::bulk_conformance!(LossyUdp);
}

//! Credits over sockets pass the suite.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use crate::mesh;
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_conformance::{Harness, conforms};
use bandgap_socket::SocketLink;
use bandgap_socket::udp::UdpStream;

conforms!(endpoint tcp(size, exposed) -> Credited<SocketLink<TcpStream>> {
    mesh::credited(mesh::tcp(size), exposed, DEFAULT_CREDITS)
});
conforms!(endpoint unix(size, exposed) -> Credited<SocketLink<UnixStream>> {
    mesh::credited(mesh::unix(size), exposed, DEFAULT_CREDITS)
});
conforms!(
    /// More credits than the kernel's buffers have room for.
    endpoint tiny_buffers(size, exposed) -> Credited<SocketLink<UnixStream>> {
        mesh::credited(mesh::tiny(size), exposed, 1000)
    }
);
conforms!(endpoint udp(size, exposed) -> Credited<SocketLink<UdpStream>> {
    mesh::credited(mesh::udp(size), exposed, DEFAULT_CREDITS)
});
conforms!(
    /// More credits than datagrams fit into a receive buffer.
    endpoint full_windows(size, exposed) -> Credited<SocketLink<UdpStream>> {
        mesh::credited(mesh::udp(size), exposed, 1000)
    }
);

mod lossy {
    use super::*;

    /// Of eight datagrams one is lost, doubled, overtaken or changed.
    struct LossyUdp;

    impl Harness for LossyUdp {
        type E = Credited<SocketLink<UdpStream<mesh::wire::Wire>>>;
        // The word of farewell may be what is lost.
        const NOTICES_DEPARTURE: bool = false;

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            mesh::credited(mesh::lossy(size, 8), exposed, DEFAULT_CREDITS)
        }
    }

    // Not `completes_once`, which wants ends to settle within a hundred polls.
    bandgap_conformance::conformance!(each LossyUdp:
        requests_arrive_once_and_in_order
        replies_keep_to_their_handler
        busy_at_capacity
        flood_both_ways
        replies_find_room
        all_to_all
        fan_in
        no_such_peer
        unknown_handler_names_the_rank
    );
    bandgap_conformance::conformance!(bulk LossyUdp);
}

//! Credits over sockets pass the suite.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use crate::mesh;
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_conformance::{EXPOSED, Harness, conforms};
use bandgap_socket::SocketLink;
use bandgap_socket::udp::UdpStream;

conforms!(tcp(size) -> Credited<SocketLink<TcpStream>> {
    mesh::credited(mesh::tcp(size), EXPOSED, DEFAULT_CREDITS)
});
conforms!(unix(size) -> Credited<SocketLink<UnixStream>> {
    mesh::credited(mesh::unix(size), EXPOSED, DEFAULT_CREDITS)
});
conforms!(
    /// More credits than the kernel's buffers have room for.
    tiny_buffers(size) -> Credited<SocketLink<UnixStream>> {
        mesh::credited(mesh::tiny(size), EXPOSED, 1000)
    }
);
conforms!(udp(size) -> Credited<SocketLink<UdpStream>> {
    mesh::credited(mesh::udp(size), EXPOSED, DEFAULT_CREDITS)
});
conforms!(
    /// More credits than datagrams fit into a receive buffer.
    full_windows(size) -> Credited<SocketLink<UdpStream>> {
        mesh::credited(mesh::udp(size), EXPOSED, 1000)
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
    );
    bandgap_conformance::bulk_conformance!(LossyUdp);
}

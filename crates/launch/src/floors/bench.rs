//! Both ends of everything that floors and layers are measured over, connected.

use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use bandgap_comm::{Credited, Role};
use bandgap_host::CycleClock;
use bandgap_kernels::MessageState;
use bandgap_shm::floor::FloorArea;
use bandgap_shm::{Control, Exposed, Segment, ShmEndpoint, ShmError};
use bandgap_socket::udp::{self, UdpStream};
use bandgap_socket::{SocketError, SocketLink};

use crate::Exit;
use crate::live::Station;
use crate::message::{Assignment, Channel};
use crate::rank::{
    Failure, clock, connect_tcp, connect_unix, credited, exchange, listen_tcp, listen_unix,
    passing_station,
};
use crate::transport::Transport;
use crate::watch::RankWatch;
use bandgap_campaign::floors::EXPOSED;

/// A rank's end of a transport, for words, transfers and messages.
type End<E> = Station<E, RankWatch, MessageState>;

/// Both ends of everything that is measured, on one rank.
pub(super) struct Bench {
    pub(super) role: Role,
    pub(super) clock: CycleClock,
    pub(super) control: Arc<Control>,
    pub(super) area: FloorArea,
    pub(super) shm: End<ShmEndpoint>,
    pub(super) tcp: End<Credited<SocketLink<TcpStream>>>,
    pub(super) unix: End<Credited<SocketLink<UnixStream>>>,
    pub(super) udp: End<Credited<SocketLink<UdpStream>>>,
    pub(super) raw_tcp: TcpStream,
    pub(super) raw_unix: UnixStream,
    pub(super) raw_udp: UdpSocket,
    pub(super) patience: Duration,
    pub(super) epoch: u64,
}

impl Bench {
    pub(super) fn connect(
        assignment: &Assignment,
        channel: &mut Channel,
        control: &Arc<Control>,
        segment: &Segment,
        exposed: Exposed,
        area: FloorArea,
    ) -> Result<Self, Failure> {
        let socket = |e: SocketError| Failure::new("", &e, Exit::Communication);
        let memory = |e: ShmError| Failure::new("", &e, Exit::Host);
        let clock = clock(assignment)?;
        let (tcp, tcp_raw, unix, unix_raw) =
            (listen_tcp()?, listen_tcp()?, listen_unix()?, listen_unix()?);
        let (udp_socket, udp_address) = udp::bind_loopback().map_err(socket)?;
        let (ports, udp_addresses) = udp::Ports::bind(2).map_err(socket)?;
        let own = [&tcp.1, &tcp_raw.1, &unix.1, &unix_raw.1, &udp_address, &udp_addresses];
        let all = exchange(channel, own.map(String::as_str).join(" "))?;
        let of = |which: usize| -> Vec<String> {
            let address = |rank: &String| rank.split(' ').nth(which).unwrap_or("").to_owned();
            all.iter().map(address).collect()
        };
        let link_tcp = connect_tcp(assignment, tcp.0, &of(0))?;
        let raw_tcp = connect_tcp(assignment, tcp_raw.0, &of(1))?;
        let link_unix = connect_unix(assignment, unix.0, &of(2))?;
        let raw_unix = connect_unix(assignment, unix_raw.0, &of(3))?;
        let (rank, peer) = (assignment.rank, 1 - assignment.rank);
        let raw_udp = udp::connect(udp_socket, &of(4)[peer]).map_err(socket)?;
        let link_udp = udp::link(rank, ports, &of(5), &assignment.secret).map_err(socket)?;
        let shm = ShmEndpoint::attach(segment, rank, 2).map_err(memory)?;
        let shm = shm.exposing(exposed).map_err(memory)?;
        let (tcp, unix, udp) = (
            credited(link_tcp.exposing(EXPOSED)),
            credited(link_unix.exposing(EXPOSED)),
            credited(link_udp.exposing(EXPOSED)),
        );
        let lost = || Failure::new("connect the ranks", &"", Exit::Communication);
        Ok(Self {
            role: if rank == 0 { Role::Initiator } else { Role::Responder },
            clock,
            control: Arc::clone(control),
            area,
            shm: passing_station(assignment, control, shm, clock, Transport::Shm)?,
            tcp: passing_station(assignment, control, tcp, clock, Transport::Tcp)?,
            unix: passing_station(assignment, control, unix, clock, Transport::Unix)?,
            udp: passing_station(assignment, control, udp, clock, Transport::Udp)?,
            raw_tcp: raw_tcp.into_streams().pop().ok_or_else(lost)?,
            raw_unix: raw_unix.into_streams().pop().ok_or_else(lost)?,
            raw_udp,
            patience: Duration::from_secs_f64(assignment.deadline.min(5.0)),
            epoch: 0,
        })
    }
}

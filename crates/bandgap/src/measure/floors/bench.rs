//! Both ends of everything that floors and layers are measured over, connected.

use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use bandgap_comm::{Credited, Role};
use bandgap_host::CycleClock;
use bandgap_shm::floor::FloorArea;
use bandgap_shm::{Control, Exposed, Segment, ShmEndpoint};
use bandgap_socket::{SocketLink, udp};

use crate::exit::Exit;
use crate::launch::message::{Assignment, Channel};
use crate::launch::rank::{
    Failure, clock, connect_tcp, connect_unix, credited, exchange, listen_tcp, listen_unix, station,
};
use crate::launch::watch::RankWatch;
use crate::measure::live::Station;

/// Both ends of everything that is measured, on one rank.
pub(super) struct Bench {
    pub(super) role: Role,
    pub(super) clock: CycleClock,
    pub(super) control: Arc<Control>,
    pub(super) area: FloorArea,
    pub(super) shm: Station<ShmEndpoint, RankWatch>,
    pub(super) tcp: Station<Credited<SocketLink<TcpStream>>, RankWatch>,
    pub(super) unix: Station<Credited<SocketLink<UnixStream>>, RankWatch>,
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
        let failed = |e: &dyn std::fmt::Display| Failure::new("", e, Exit::Communication);
        let clock = clock(assignment)?;
        let (tcp, tcp_raw, unix, unix_raw) =
            (listen_tcp()?, listen_tcp()?, listen_unix()?, listen_unix()?);
        let (udp_socket, udp_address) = udp::bind_loopback().map_err(|e| failed(&e))?;
        let own = [&tcp.1, &tcp_raw.1, &unix.1, &unix_raw.1, &udp_address].map(String::as_str);
        let all = exchange(channel, own.join(" "))?;
        let of = |which: usize| -> Vec<String> {
            let address = |rank: &String| rank.split(' ').nth(which).unwrap_or("").to_owned();
            all.iter().map(address).collect()
        };
        let link_tcp = connect_tcp(assignment, tcp.0, &of(0))?;
        let raw_tcp = connect_tcp(assignment, tcp_raw.0, &of(1))?;
        let link_unix = connect_unix(assignment, unix.0, &of(2))?;
        let raw_unix = connect_unix(assignment, unix_raw.0, &of(3))?;
        let peer = 1 - assignment.rank;
        let raw_udp = udp::connect(udp_socket, &of(4)[peer]).map_err(|e| failed(&e))?;
        let endpoint = ShmEndpoint::attach(segment, assignment.rank, 2)
            .and_then(|endpoint| endpoint.exposing(exposed))
            .map_err(|e| failed(&e))?;
        let lost = || Failure::new("connect the ranks", &"", Exit::Communication);
        Ok(Self {
            role: if assignment.rank == 0 { Role::Initiator } else { Role::Responder },
            clock,
            control: Arc::clone(control),
            area,
            shm: station(assignment, control, endpoint, clock),
            tcp: station(assignment, control, credited(link_tcp), clock),
            unix: station(assignment, control, credited(link_unix), clock),
            raw_tcp: raw_tcp.into_streams().pop().ok_or_else(lost)?,
            raw_unix: raw_unix.into_streams().pop().ok_or_else(lost)?,
            raw_udp,
            patience: Duration::from_secs_f64(assignment.deadline.min(5.0)),
            epoch: 0,
        })
    }
}

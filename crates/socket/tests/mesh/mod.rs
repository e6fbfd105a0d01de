//! Ranks of one process, connected as the ranks of a run are.
#![allow(dead_code)]

use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bandgap_comm::{CommError, Frame, Link};
use bandgap_socket::udp::{self, UdpStream};
use bandgap_socket::{Secret, SocketError, SocketLink, Stream, tcp, unix};
use lossy::Lossy;

pub mod lossy;

pub const SECRET: Secret = *b"0123456789abcdef";

/// Far beyond what a connection takes on a loaded machine.
pub fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// What a link receives at once.
pub fn receive<S: Stream>(link: &mut SocketLink<S>) -> Result<Vec<Frame>, CommError> {
    let (rank, size) = (link.rank(), link.size());
    let mut frames = Vec::new();
    let count = link.receive(|from, frame| {
        assert!(from != rank && from < size, "from {from}");
        frames.push(frame);
    })?;
    assert_eq!(count, frames.len());
    Ok(frames)
}

type Linked<S> = Result<SocketLink<S>, SocketError>;

/// Runs `connect` for each rank at once.
fn all<L: Send, S: Send>(
    listeners: Vec<L>,
    connect: impl Fn(usize, L) -> Linked<S> + Sync,
) -> Vec<SocketLink<S>> {
    let connect = &connect;
    thread::scope(|scope| {
        let start = |(rank, listener)| scope.spawn(move || connect(rank, listener));
        let ranks: Vec<_> = listeners.into_iter().enumerate().map(start).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap().unwrap()).collect()
    })
}

pub fn tcp(size: usize) -> Vec<SocketLink<TcpStream>> {
    let bind = |_| tcp::Listener::bind_loopback().unwrap();
    let (listeners, addresses): (Vec<_>, Vec<_>) = (0..size).map(bind).unzip();
    all(listeners, |rank, listener| {
        tcp::connect(rank, size, listener, &addresses, SECRET, deadline())
    })
}

/// A name for each rank that no other test and no other process uses.
pub fn names(size: usize) -> Vec<String> {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    (0..size).map(|rank| format!("bandgap-test-{}-{run}-{rank}", std::process::id())).collect()
}

pub fn unix(size: usize) -> Vec<SocketLink<UnixStream>> {
    let names = names(size);
    let bind = |name: &String| unix::Listener::bind(name.as_bytes()).unwrap();
    all(names.iter().map(bind).collect(), |rank, listener| {
        unix::connect(rank, size, listener, &names, SECRET, deadline())
    })
}

pub fn udp(size: usize) -> Vec<SocketLink<UdpStream>> {
    let bind = |_| udp::Ports::bind(size).unwrap();
    let (ports, addresses): (Vec<_>, Vec<_>) = (0..size).map(bind).unzip();
    let link = |(rank, ports)| udp::link(rank, ports, &addresses, &SECRET).unwrap();
    ports.into_iter().enumerate().map(link).collect()
}

/// Two connected sockets for datagrams.
pub fn datagrams() -> (UdpSocket, UdpSocket) {
    let (one, its) = udp::bind_loopback().unwrap();
    let (other, others) = udp::bind_loopback().unwrap();
    (udp::connect(one, &others).unwrap(), udp::connect(other, &its).unwrap())
}

/// Udp over sockets that do wrong with about one of `odds` datagrams.
pub fn lossy(size: usize, odds: u64) -> Vec<SocketLink<UdpStream<Lossy>>> {
    let mut streams: Vec<Vec<UdpStream<Lossy>>> = (0..size).map(|_| Vec::new()).collect();
    for high in 0..size {
        for low in 0..high {
            let (one, other) = datagrams();
            for (socket, rank, peer) in [(one, high, low), (other, low, high)] {
                let lossy = Lossy::new(socket, (rank * size + peer) as u64, odds);
                streams[rank].push(UdpStream::over(lossy, &SECRET, rank, peer).unwrap());
            }
        }
    }
    let over = |(rank, streams)| SocketLink::over(rank, streams).unwrap();
    streams.into_iter().enumerate().map(over).collect()
}

/// Unix sockets whose buffers the kernel keeps as small as it can.
pub fn tiny(size: usize) -> Vec<SocketLink<UnixStream>> {
    let mut streams: Vec<Vec<UnixStream>> = (0..size).map(|_| Vec::new()).collect();
    // By higher, then lower rank: each rank's sockets come in the order of its peers.
    for high in 0..size {
        for low in 0..high {
            let (one, other) = UnixStream::pair().unwrap();
            for end in [&one, &other] {
                rustix::net::sockopt::set_socket_send_buffer_size(end, 1).unwrap();
            }
            streams[high].push(one);
            streams[low].push(other);
        }
    }
    let over = |(rank, streams)| SocketLink::over(rank, streams).unwrap();
    streams.into_iter().enumerate().map(over).collect()
}

//! Ranks of one process, connected as the ranks of a run are.

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use bandgap_comm::{CommError, Credited, Frame, Link, Rank, Rendezvous};
use bandgap_socket::{Kind, Over, Secret, SocketError, SocketLink, Stream};

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

/// Where a rank meets the others.
struct Meeting<X> {
    rank: Rank,
    size: usize,
    deadline: Instant,
    /// From this rank's address to those of all.
    exchange: X,
}

impl<X: FnMut(String) -> Vec<String>> Rendezvous for Meeting<X> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn secret(&self) -> Secret {
        SECRET
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn exchange(&mut self, address: String) -> Result<Vec<String>, CommError> {
        Ok((self.exchange)(address))
    }
}

/// Connects one rank, which tells its address to `exchange` and gets the addresses of all.
pub fn link<K: Kind>(
    rank: Rank,
    size: usize,
    deadline: Instant,
    exchange: impl FnOnce(String) -> Vec<String>,
) -> Result<SocketLink<K::Stream>, SocketError> {
    let mut once = Some(exchange);
    let exchange = |address| once.take().unwrap()(address);
    let mut meeting = Meeting { rank, size, deadline, exchange };
    Over::<K>::link(&mut meeting).map_err(|error| match error {
        CommError::Connect(error) => *error.downcast().unwrap(),
        other => panic!("{other:?}"),
    })
}

/// Runs `connect` for each rank at once. When all have told their addresses for the first time, and before any learns the
/// others', `meanwhile` sees them.
fn run<R: Send>(
    size: usize,
    meanwhile: impl FnOnce(&[String]),
    connect: impl Fn(&mut dyn Rendezvous) -> Result<R, CommError> + Sync,
) -> Vec<R> {
    let connect = &connect;
    thread::scope(|scope| {
        let start = |rank| {
            let (tell, told) = mpsc::channel();
            let (answer, answers) = mpsc::channel();
            let exchange = move |address| {
                tell.send(address).unwrap();
                answers.recv().unwrap()
            };
            let mut meeting = Meeting { rank, size, deadline: deadline(), exchange };
            ((told, answer), scope.spawn(move || connect(&mut meeting).unwrap()))
        };
        let (ends, ranks): (Vec<_>, Vec<_>) = (0..size).map(start).unzip();
        let mut meanwhile = Some(meanwhile);
        loop {
            // Whoever has connected, or panicked, tells nothing any more.
            let addresses: Vec<String> =
                ends.iter().filter_map(|(told, _)| told.recv().ok()).collect();
            if addresses.is_empty() {
                break;
            }
            if let Some(meanwhile) = meanwhile.take() {
                meanwhile(&addresses);
            }
            for (_, answer) in &ends {
                let _ = answer.send(addresses.clone());
            }
        }
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// The links of all ranks. When they have told their addresses, and before any learns the others',
/// `meanwhile` sees them.
pub fn links_amid<K: Kind<Stream: Send>>(
    size: usize,
    meanwhile: impl FnOnce(&[String]),
) -> Vec<SocketLink<K::Stream>> {
    run(size, meanwhile, Over::<K>::link)
}

fn links<K: Kind<Stream: Send>>(size: usize) -> Vec<SocketLink<K::Stream>> {
    links_amid::<K>(size, |_| ())
}

pub fn tcp(size: usize) -> Vec<SocketLink<TcpStream>> {
    links::<TcpStream>(size)
}

pub fn unix(size: usize) -> Vec<SocketLink<UnixStream>> {
    links::<UnixStream>(size)
}

/// Two connected sockets.
pub fn pair<K: Kind + Send>() -> (K, K) {
    let mut sockets = run(2, |_| (), |meeting| K::sockets(meeting)).into_iter().flatten();
    (sockets.next().unwrap(), sockets.next().unwrap())
}

/// Rank 0's link, and a bare socket in place of rank 1, whose calls wait.
pub fn with_bare_peer() -> (SocketLink<UnixStream>, UnixStream) {
    let (one, other) = UnixStream::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    (SocketLink::over(0, vec![one]).unwrap(), other)
}

/// Links of `size` ranks over streams that `connect` makes for each pair, of the higher and the
/// lower rank.
fn in_pairs<S: Stream>(size: usize, connect: impl Fn(Rank, Rank) -> (S, S)) -> Vec<SocketLink<S>> {
    let mut streams: Vec<Vec<S>> = (0..size).map(|_| Vec::new()).collect();
    // By higher, then lower rank: each rank's streams come in the order of its peers.
    for high in 0..size {
        for low in 0..high {
            let (one, other) = connect(high, low);
            streams[high].push(one);
            streams[low].push(other);
        }
    }
    let over = |(rank, streams)| SocketLink::over(rank, streams).unwrap();
    streams.into_iter().enumerate().map(over).collect()
}

/// Unix sockets whose buffers the kernel keeps as small as it can.
pub fn tiny(size: usize) -> Vec<SocketLink<UnixStream>> {
    in_pairs(size, |_, _| {
        let ends = UnixStream::pair().unwrap();
        for end in [&ends.0, &ends.1] {
            end.set_nonblocking(true).unwrap();
            rustix::net::sockopt::set_socket_send_buffer_size(end, 1).unwrap();
        }
        ends
    })
}

/// Endpoints over links.
pub fn credited<S: Stream>(
    links: Vec<SocketLink<S>>,
    exposed: usize,
    credits: u16,
) -> Vec<Credited<SocketLink<S>>> {
    links.into_iter().map(|link| Credited::new(link.exposing(exposed), credits)).collect()
}

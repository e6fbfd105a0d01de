//! Ranks of one process, connected as the ranks of a run are.

use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use bandgap_comm::{Bare, CommError, Credited, Frame, Link, Rank, Rendezvous};
use bandgap_socket::{Over, Secret, Socket, SocketError, SocketKind, SocketLink, Stream};

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

/// Where a rank meets the others; `exchange` takes this rank's address and returns those of all.
fn meeting<'a>(
    rank: Rank,
    size: usize,
    deadline: Instant,
    exchange: &'a mut dyn FnMut(String) -> Result<Vec<String>, CommError>,
) -> Rendezvous<'a> {
    Rendezvous { secret: SECRET, deadline, ..Rendezvous::new([rank, size], exchange) }
}

/// Connects one rank, which tells its address to `exchange` and gets the addresses of all.
pub fn link<K: SocketKind>(
    rank: Rank,
    size: usize,
    deadline: Instant,
    exchange: impl FnOnce(String) -> Vec<String>,
) -> Result<SocketLink<Socket>, SocketError> {
    let mut once = Some(exchange);
    let exchange = &mut |address| Ok(once.take().unwrap()(address));
    linked::<K>(&mut meeting(rank, size, deadline, exchange)).map_err(|error| match error {
        CommError::Connect(error) => *error.downcast().unwrap(),
        other => panic!("{other:?}"),
    })
}

fn linked<K: SocketKind>(meeting: &mut Rendezvous<'_>) -> Result<SocketLink<Socket>, CommError> {
    Ok(SocketLink::over(meeting.rank, Over::<K>::sockets(meeting)?)?)
}

/// Runs `connect` for each rank at once. When all have told their addresses, and before any learns the others', `meanwhile`
/// sees them.
fn run<R: Send>(
    size: usize,
    mut meanwhile: impl FnMut(&[String]),
    connect: impl Fn(&mut Rendezvous<'_>) -> Result<R, CommError> + Sync,
) -> Vec<R> {
    let connect = &connect;
    thread::scope(|scope| {
        let start = |rank| {
            let (tell, told) = mpsc::channel();
            let (answer, answers) = mpsc::channel();
            let mut exchange = move |address| {
                tell.send(address).unwrap();
                Ok(answers.recv().unwrap())
            };
            let connected =
                move || connect(&mut meeting(rank, size, deadline(), &mut exchange)).unwrap();
            ((told, answer), scope.spawn(connected))
        };
        let (ends, ranks): (Vec<_>, Vec<_>) = (0..size).map(start).unzip();
        loop {
            // Whoever has connected, or panicked, tells nothing any more.
            let addresses: Vec<String> =
                ends.iter().filter_map(|(told, _)| told.recv().ok()).collect();
            if addresses.is_empty() {
                break;
            }
            meanwhile(&addresses);
            for (_, answer) in &ends {
                let _ = answer.send(addresses.clone());
            }
        }
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// The links of all ranks. When they have told their addresses, and before any learns the others',
/// `meanwhile` sees them.
pub fn links_amid<K: SocketKind>(
    size: usize,
    meanwhile: impl FnMut(&[String]),
) -> Vec<SocketLink<Socket>> {
    run(size, meanwhile, linked::<K>)
}

pub fn unix(size: usize) -> Vec<SocketLink<Socket>> {
    links_amid::<UnixListener>(size, |_| ())
}

/// Two connected sockets.
pub fn pair<K: SocketKind>() -> (Socket, Socket) {
    let mut sockets = run(2, |_| (), Over::<K>::sockets).into_iter().flatten();
    (sockets.next().unwrap(), sockets.next().unwrap())
}

/// Both ends of a bare mechanism. When both ranks have told their addresses, and before any learns the other's,
/// `meanwhile` sees them.
pub fn bare<B: Bare + Send>(meanwhile: impl FnMut(&[String])) -> (B, B) {
    let mut ends = run(2, meanwhile, |meeting| B::connect(Vec::new(), meeting)).into_iter();
    (ends.next().unwrap(), ends.next().unwrap())
}

/// Rank 0's link, and a bare socket in place of rank 1, whose calls wait.
pub fn with_bare_peer() -> (SocketLink<Socket>, UnixStream) {
    let (one, other) = UnixStream::pair().unwrap();
    (SocketLink::over(0, vec![Socket::of(one).unwrap()]).unwrap(), other)
}

/// Links of `size` ranks over Unix sockets whose buffers the kernel keeps as small as it can.
pub fn tiny(size: usize) -> Vec<SocketLink<Socket>> {
    let mut sockets: Vec<Vec<Socket>> = (0..size).map(|_| Vec::new()).collect();
    // By higher, then lower rank: each rank's sockets come in the order of its peers.
    for high in 0..size {
        for low in 0..high {
            let (one, other) = UnixStream::pair().unwrap();
            for (rank, end) in [(high, one), (low, other)] {
                rustix::net::sockopt::set_socket_send_buffer_size(&end, 1).unwrap();
                sockets[rank].push(Socket::of(end).unwrap());
            }
        }
    }
    let over = |(rank, sockets)| SocketLink::over(rank, sockets).unwrap();
    sockets.into_iter().enumerate().map(over).collect()
}

/// Endpoints over links.
pub fn credited<S: Stream>(
    links: Vec<SocketLink<S>>,
    exposed: usize,
    credits: u16,
) -> Vec<Credited<SocketLink<S>>> {
    links.into_iter().map(|link| Credited::new(link.exposing(exposed), credits)).collect()
}

//! How ranks on one machine find each other: with one connection for each pair.
//!
//! In each pair, the higher rank connects to the lower rank's listener and greets it with a
//! [`Hello`]; the lower rank answers with its own. Both greetings carry the run's secret, so each
//! side can trust the other. A caller without the secret is dropped. No step waits for a stranger:
//! greetings are read as they arrive, from all callers at once.
//!
//! This cannot deadlock: a rank greets all lower ranks before it waits for anything, so every rank
//! that another waits for has called, or will call.

mod callers;
mod hello;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::{Duration, Instant};

use bandgap_comm::Rank;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::error::system;
use crate::{SocketError, SocketLink, Stream};
use callers::Callers;
use hello::{Hello, Reading, Said};

/// A number that only the ranks of a run know.
pub type Secret = [u8; 16];

/// A listening socket whose calls do not wait, and how to reach it.
pub(crate) trait Listen: AsFd {
    type Stream: Stream;
    type Address;

    /// Accepts the next caller; fails with `WouldBlock` if there is none.
    fn accept(&self) -> io::Result<Self::Stream>;
    /// Connects to a listener. `None` if it has no room, or does not exist yet.
    fn connect(address: &Self::Address, timeout: Duration) -> io::Result<Option<Self::Stream>>;
    /// Whether this process's user owns the other end; true if the system does not tell.
    fn is_own(stream: &Self::Stream) -> io::Result<bool>;
}

/// Pause between two attempts to reach a listener that has no room or does not exist yet.
const AGAIN: Duration = Duration::from_millis(1);

/// Connects `rank` of `size` to all others.
pub(crate) fn mesh<L: Listen>(
    rank: Rank,
    size: usize,
    listener: L,
    addresses: &[L::Address],
    secret: Secret,
    deadline: Instant,
) -> Result<SocketLink<L::Stream>, SocketError> {
    if addresses.len() != size {
        return Err(SocketError::Addresses { addresses: addresses.len(), size });
    }
    let own = Hello { rank: rank as u32, secret };
    let mut streams = Vec::with_capacity(size);
    for (peer, address) in addresses.iter().enumerate().take(rank) {
        let stream = reach::<L>(peer, address, deadline)?;
        own.say(&stream).map_err(|source| SocketError::Unreachable { peer, source })?;
        streams.push(stream);
    }
    let higher = Callers::new(listener, own, rank + 1..size).wait(deadline)?;
    for (peer, stream) in streams.iter().enumerate() {
        let expected = Hello { rank: peer as u32, secret };
        hear(peer, stream, expected, deadline)?;
    }
    streams.extend(higher);
    SocketLink::over(rank, streams)
}

/// Connects to one peer's listener.
fn reach<L: Listen>(
    peer: Rank,
    address: &L::Address,
    deadline: Instant,
) -> Result<L::Stream, SocketError> {
    let unreachable = |source| SocketError::Unreachable { peer, source };
    loop {
        let Some(left) = left(deadline) else {
            return Err(SocketError::Missing { missing: vec![peer] });
        };
        if let Some(stream) = L::connect(address, left).map_err(unreachable)? {
            if !L::is_own(&stream).map_err(unreachable)? {
                return Err(SocketError::NotThePeer { peer, what: "another user listens there" });
            }
            stream.prepare().map_err(system("prepare a socket"))?;
            return Ok(stream);
        }
        thread::sleep(AGAIN.min(left));
    }
}

/// Waits for a lower rank's answer to the greeting.
fn hear<S: Stream>(
    peer: Rank,
    stream: &S,
    expected: Hello,
    deadline: Instant,
) -> Result<(), SocketError> {
    let not_the_peer = |what| Err(SocketError::NotThePeer { peer, what });
    let mut reading = Reading::default();
    loop {
        match reading.go_on(stream) {
            Said::Nothing if left(deadline).is_none() => {
                return Err(SocketError::Missing { missing: vec![peer] });
            }
            Said::Nothing => wait(&mut [readable(stream.as_fd())], deadline)?,
            Said::Left => return not_the_peer("it closed the connection without an answer"),
            Said::Hello(hello) if hello.is(&expected) => return Ok(()),
            Said::Hello(_) | Said::Strange => {
                return not_the_peer("something else answers at its address");
            }
        }
    }
}

/// The time left before the deadline, if any.
fn left(deadline: Instant) -> Option<Duration> {
    deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

fn readable(socket: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(socket, PollFlags::IN)
}

/// Sleeps until a socket is readable or the deadline has passed.
fn wait(sockets: &mut [PollFd<'_>], deadline: Instant) -> Result<(), SocketError> {
    let timeout = Timespec::try_from(left(deadline).unwrap_or_default()).ok();
    match poll(sockets, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(system("wait for a socket")(error)),
    }
}

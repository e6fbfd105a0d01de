//! How ranks on one machine find each other: one connection for each pair.
//!
//! Of each pair the higher rank connects to the lower one's listener and greets with a [`Hello`];
//! the lower one answers with its own. Both carry the run's secret, so that each side knows the
//! other, and whoever comes without it is dropped. No step waits for a stranger: greetings are
//! read as they come, from all callers at once.
//!
//! This cannot lock up: a rank greets all lower ranks before it waits for anything, so whoever is
//! waited for has been, or will be, greeted.

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

/// What the ranks of one run know and nobody else does.
pub type Secret = [u8; 16];

/// A listening socket, and how others reach it.
pub(crate) trait Listen: AsFd {
    type Stream: Stream;
    type Address;

    /// Makes calls of [`Listen::accept`] return rather than wait.
    fn prepare(&self) -> io::Result<()>;
    /// The next caller, if there is one.
    fn accept(&self) -> io::Result<Self::Stream>;
    /// Connects to a listener; none if it has no room, or is not there yet.
    fn connect(address: &Self::Address, timeout: Duration) -> io::Result<Option<Self::Stream>>;
    /// Whether the other end belongs to who runs this process, where the system tells.
    fn is_own(stream: &Self::Stream) -> io::Result<bool>;
}

/// Pause between two attempts to reach a listener that has no room or is not there yet.
const AGAIN: Duration = Duration::from_millis(1);

/// Connects `rank` with all others.
pub(crate) fn mesh<L: Listen>(
    rank: Rank,
    listener: L,
    addresses: &[L::Address],
    secret: Secret,
    deadline: Instant,
) -> Result<SocketLink<L::Stream>, SocketError> {
    let own = Hello { rank: rank as u32, secret };
    let mut streams = Vec::with_capacity(addresses.len());
    for (peer, address) in addresses.iter().enumerate().take(rank) {
        let stream = reach::<L>(peer, address, deadline)?;
        own.say(&stream).map_err(|source| SocketError::Unreachable { peer, source })?;
        streams.push(stream);
    }
    let higher = Callers::new(listener, own, rank + 1..addresses.len()).wait(deadline)?;
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

/// The time left, if any.
fn left(deadline: Instant) -> Option<Duration> {
    deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

fn readable(socket: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(socket, PollFlags::IN)
}

/// Sleeps until a socket is readable or the deadline has come.
fn wait(sockets: &mut [PollFd<'_>], deadline: Instant) -> Result<(), SocketError> {
    let timeout = Timespec::try_from(left(deadline).unwrap_or_default()).ok();
    match poll(sockets, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(system("wait for a socket")(error)),
    }
}

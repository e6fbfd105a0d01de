//! How ranks find each other: with one connection for each pair.
//!
//! In each pair, the higher rank connects to the lower rank's listener and calls, the lower rank answers with a number
//! that is new, and the higher one confirms with it. Both prove that they know the run's secret without telling it, so
//! each side can trust the other; whoever listens in a dead rank's place learns nothing, and whoever repeats what a rank
//! has said is not let in. A caller without the secret is dropped. No step waits for a stranger: greetings are read as
//! they arrive, from all callers at once.
//!
//! This cannot deadlock: a rank waits for the lower ranks one by one, and then for all higher ones. Rank 0 answers at
//! once, and each other rank as soon as all lower ones answer.

mod callers;
mod hello;
pub mod star;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use bandgap_comm::{CommError, Floor, Rank, Rendezvous};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::error::{system, unreachable};
use crate::{Result, Socket, SocketError};
use callers::Callers;
pub use hello::nonce;
use hello::{Known, Reading, SILENCE, STRANGE, Step, say};

/// A number that only the ranks of a run know.
pub type Secret = [u8; 16];

/// A kind of stream sockets: its listening socket, whose calls do not wait. [`Over`](crate::Over) makes a transport of it.
pub trait SocketKind: AsFd + Sized + 'static {
    /// The transport's name, and that of the floor that half a round trip is compared with.
    const NAME: &'static str;
    /// What the transport is, in a few words.
    const MEANING: &'static str;
    /// Whether ranks may be on several hosts.
    const HOSTS: bool;
    /// Its floors, and the layers that are measured beside them.
    const FLOORS: &'static [Floor];

    /// Where a listener is.
    type Address;

    /// Listens where nobody else does, at this address of the host. Also returns where, to tell the others.
    ///
    /// # Errors
    /// The operating system refused.
    fn bind(interface: IpAddr) -> Result<(Self, String)>;
    /// Reads the address of a listener.
    ///
    /// # Errors
    /// It is none.
    fn address(text: &str) -> Result<Self::Address>;
    /// Connects to a listener. `None` if it has no room, or does not exist yet.
    ///
    /// # Errors
    /// The operating system refused.
    fn connect(address: &Self::Address, timeout: Duration) -> io::Result<Option<OwnedFd>>;
    /// Whether a connection can be trusted as far as the system tells whose other end it is. It is then prepared for short
    /// messages: no bytes are held back to be sent together with later ones.
    ///
    /// # Errors
    /// The operating system refused.
    fn admit(stream: &OwnedFd) -> io::Result<bool>;
}

/// Pause between two attempts to reach a listener that has no room or does not exist yet.
const AGAIN: Duration = Duration::from_millis(1);

/// Connects this rank with all others, in the order of ranks. The listener closes when this
/// returns.
pub(crate) fn mesh<K: SocketKind>(meeting: &mut Rendezvous<'_>) -> Result<Vec<Socket>, CommError> {
    let (listener, address) = K::bind(meeting.interface)?;
    let texts = exchange(meeting, address)?;
    let (rank, secret, size) = (meeting.rank, meeting.secret, meeting.size);
    let deadline = meeting.deadline;
    let addresses = texts.iter().map(|text| K::address(text)).collect::<Result<Vec<_>, _>>()?;
    let at = |peer: Rank| Known { secret, listener: texts[peer].clone() };
    let mut streams = Vec::with_capacity(size);
    for (peer, address) in addresses.iter().enumerate().take(rank) {
        let stream = reach::<K>(peer, address, deadline)?;
        join([rank, peer], &stream, &at(peer), deadline)?;
        streams.push(stream);
    }
    let expected = rank + 1..size;
    let higher = Callers::new(listener, rank, at(rank), expected).wait(deadline, &|| false)?;
    streams.extend(higher);
    Ok(streams)
}

/// As [`Rendezvous::exchange`], for as many addresses as there are ranks.
pub(crate) fn exchange(
    meeting: &mut Rendezvous<'_>,
    address: String,
) -> Result<Vec<String>, CommError> {
    let all = (meeting.exchange)(address)?;
    let (addresses, size) = (all.len(), meeting.size);
    if addresses == size { Ok(all) } else { Err(SocketError::Addresses { addresses, size }.into()) }
}

/// Reads a peer's socket address, as it was told through whoever started the ranks.
pub(crate) fn address(text: &str) -> Result<SocketAddr> {
    text.parse().map_err(|_| SocketError::Address(text.to_owned()))
}

/// Connects to one peer's listener.
fn reach<K: SocketKind>(peer: Rank, address: &K::Address, deadline: Instant) -> Result<Socket> {
    loop {
        let left = left(deadline, &[peer])?;
        if let Some(stream) = K::connect(address, left).map_err(unreachable(peer))? {
            if !K::admit(&stream).map_err(unreachable(peer))? {
                return Err(unreachable(peer)("another user listens there"));
            }
            return Socket::of(stream).map_err(system("prepare a socket"));
        }
        thread::sleep(AGAIN.min(left));
    }
}

/// Calls a lower rank, waits for its answer, and confirms.
fn join(
    [rank, peer]: [Rank; 2],
    stream: &impl AsFd,
    known: &Known,
    deadline: Instant,
) -> Result<()> {
    let own = nonce().map_err(unreachable(peer))?;
    let tell = |step, heard| {
        say(&known.greeting(step, [rank, peer], &own, heard), stream).map_err(unreachable(peer))
    };
    tell(Step::Call, &SILENCE)?;
    let mut reading = Reading::BEGUN;
    loop {
        match reading.go_on(stream) {
            Ok(None) => wait(&mut [readable(stream.as_fd())], deadline, &[peer])?,
            Ok(Some(hello))
                if hello.rank() == peer as u32
                    && known.proves(&hello, Step::Answer, rank, &own) =>
            {
                return tell(Step::Confirm, &hello.nonce());
            }
            Ok(Some(_)) => return Err(unreachable(peer)(STRANGE)),
            Err(what) => return Err(unreachable(peer)(what)),
        }
    }
}

/// The time left before the deadline. None is left for the missing ranks if it has passed.
fn left(deadline: Instant, missing: &[Rank]) -> Result<Duration> {
    let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
    left.ok_or_else(|| SocketError::Missing(missing.to_vec()))
}

fn readable(socket: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(socket, PollFlags::IN)
}

/// Sleeps until a socket is readable or the deadline has passed. Fails with the missing ranks if it
/// had passed before.
fn wait(sockets: &mut [PollFd<'_>], deadline: Instant, missing: &[Rank]) -> Result<()> {
    let timeout = Timespec::try_from(left(deadline, missing)?).ok();
    match poll(sockets, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(system("wait for a socket")(error)),
    }
}

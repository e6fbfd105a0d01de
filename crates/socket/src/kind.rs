//! What a kind of socket says of itself.

use std::os::fd::AsFd;

use bandgap_comm::{CommError, Floor, Rank, Rendezvous, Yardstick};

use crate::{Result, Stream};

/// A kind of connected socket, whose calls do not wait. [`Over`](crate::Over) makes a transport of
/// it.
pub trait Kind: AsFd + Sized + 'static {
    /// The transport's name, and that of the floor that half a round trip is compared with.
    const NAME: &'static str;
    /// What the transport is, in a few words.
    const MEANING: &'static str;
    /// Whether ranks may be on several hosts.
    const HOSTS: bool = true;
    /// Its floors, and the layers that are measured beside them.
    const FLOORS: &'static [Floor];
    /// Which of them results are compared with.
    const YARDSTICKS: &'static [Yardstick];

    /// What carries bytes in order over a socket.
    type Stream: Stream + 'static;

    /// Connects this rank with all others: a socket for each peer, in the order of ranks.
    ///
    /// # Errors
    /// A peer did not come before the deadline, or the operating system refused.
    fn sockets(meeting: &mut dyn Rendezvous) -> Result<Vec<Self>, CommError>;

    /// Makes a stream of the socket to `peer`.
    ///
    /// # Errors
    /// The operating system refused.
    fn stream(self, meeting: &dyn Rendezvous, peer: Rank) -> Result<Self::Stream>;
}

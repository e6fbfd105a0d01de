//! What can go wrong before ranks are connected, and in the floors.

use std::io;
use std::time::Duration;

use bandgap_comm::Rank;

/// Failures of set-up and of floor measurements; a connected link fails with
/// [`bandgap_comm::CommError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// The operating system refused an operation.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// An address that is none.
    #[error("read {text:?} as a socket address of this machine, such as 127.0.0.1:4000")]
    Address {
        /// The text.
        text: String,
    },
    /// The addresses are not one for each rank.
    #[error("connect {size} ranks by {addresses} addresses: each rank needs one")]
    Addresses {
        /// Addresses given.
        addresses: usize,
        /// Number of ranks.
        size: usize,
    },
    /// A peer could not be reached.
    #[error("connect to rank {peer}: {source}")]
    Unreachable {
        /// The peer.
        peer: Rank,
        /// The system's answer.
        source: io::Error,
    },
    /// Whoever is at a peer's address did not answer the greeting as that peer.
    #[error("connect to rank {peer}: {what}")]
    NotThePeer {
        /// The peer.
        peer: Rank,
        /// What was seen instead.
        what: &'static str,
    },
    /// Ranks did not appear in time.
    #[error("connect to rank {}: nothing heard before the deadline", list(missing))]
    Missing {
        /// The ranks that did not appear.
        missing: Vec<Rank>,
    },
    /// The other side of a floor measurement closed its socket.
    #[error("go on with the floor measurement: the other side closed its socket")]
    Closed,
    /// The other side of a floor measurement was silent for too long.
    #[error("hear from the other side of the floor measurement for {waited:?}")]
    Silent {
        /// How long.
        waited: Duration,
    },
    /// The other side of a floor measurement sent what it should not.
    #[error("verify the bytes of the floor measurement: {what}")]
    Corrupt {
        /// What was wrong.
        what: &'static str,
    },
}

fn list(ranks: &[Rank]) -> String {
    ranks.iter().map(Rank::to_string).collect::<Vec<_>>().join(", ")
}

/// Names the operation of a system's refusal.
pub(crate) fn system<E: Into<io::Error>>(operation: &'static str) -> impl FnOnce(E) -> SocketError {
    move |source| SocketError::System { operation, source: source.into() }
}

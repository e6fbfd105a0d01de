//! Errors of connecting ranks, and of the floors.

use std::error::Error;
use std::io;
use std::time::Duration;

use bandgap_comm::{CommError, Rank};

/// What is there, or why it is not.
pub(crate) type Result<T, E = SocketError> = std::result::Result<T, E>;

/// A failure to connect ranks, or of a floor measurement. A connected link fails with
/// [`bandgap_comm::CommError`].
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The operating system refused an operation.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A text is not a socket address.
    #[error("read {0:?} as a socket address, such as 127.0.0.1:4000")]
    Address(String),
    /// The number of addresses is not the number of ranks.
    #[error("connect {size} ranks with {addresses} addresses: each rank needs one")]
    Addresses {
        /// Number of addresses.
        addresses: usize,
        /// Number of ranks.
        size: usize,
    },
    /// A peer could not be reached, or something else answers at its address.
    #[error("connect to rank {peer}: {source}")]
    Unreachable {
        /// The peer.
        peer: Rank,
        /// The system's answer, or what was found instead.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Ranks did not connect in time.
    #[error("connect to rank {}: no answer before the deadline", list(.0))]
    Missing(Vec<Rank>),
    /// The other side of a floor measurement closed its socket.
    #[error("continue the floor measurement: the other side closed its socket")]
    Closed,
    /// The other side of a floor measurement was silent for too long.
    #[error("continue the floor measurement: the other side was silent for {0:.1?}")]
    Silent(Duration),
    /// The other side of a floor measurement sent wrong bytes.
    #[error("verify the bytes of the floor measurement: {0}")]
    Corrupt(&'static str),
}

fn list(ranks: &[Rank]) -> String {
    ranks.iter().map(Rank::to_string).collect::<Vec<_>>().join(", ")
}

/// Wraps an error of the operating system, with the operation that failed.
pub(crate) fn system<E: Into<io::Error>>(operation: &'static str) -> impl FnOnce(E) -> SocketError {
    move |source| SocketError::System { operation, source: source.into() }
}

pub(crate) fn unreachable<E: Into<Box<dyn Error + Send + Sync>>>(
    peer: Rank,
) -> impl Fn(E) -> SocketError {
    move |source| SocketError::Unreachable { peer, source: source.into() }
}

impl From<SocketError> for CommError {
    fn from(error: SocketError) -> Self {
        Self::Connect(Box::new(error))
    }
}

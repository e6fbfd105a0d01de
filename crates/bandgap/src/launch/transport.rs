//! The transports that ranks can be launched on.

use serde::{Deserialize, Serialize};

/// A transport between rank processes of one machine.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Slot rings in shared memory.
    Shm,
    /// TCP over the loopback interface.
    Tcp,
    /// Unix stream sockets.
    Unix,
}

impl Transport {
    /// All of them, in the order in which they are compared.
    pub const ALL: [Self; 3] = [Self::Shm, Self::Tcp, Self::Unix];

    /// Its name on the command line and in run files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Tcp => "tcp",
            Self::Unix => "unix",
        }
    }

    /// The raw floor that half a round trip is compared with.
    pub fn floor(self) -> &'static str {
        match self {
            Self::Shm => "cache_line",
            Self::Tcp => "tcp",
            Self::Unix => "unix",
        }
    }
}

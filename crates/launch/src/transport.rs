//! The transports that ranks can be launched on.

use bandgap_comm::passing::Tuning;
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
    /// UDP over the loopback interface, made reliable.
    Udp,
}

impl Transport {
    /// Those that are measured where none is named, in the order in which they are compared; udp,
    /// over which few programs send messages, is measured when asked for.
    pub const COMPARED: [Self; 3] = [Self::Shm, Self::Tcp, Self::Unix];

    /// Its name on the command line and in run files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::Udp => "udp",
        }
    }

    /// How message passing cuts messages over it.
    pub fn tuning(self) -> Tuning {
        match self {
            Self::Shm => Tuning::DEFAULT,
            Self::Tcp | Self::Unix | Self::Udp => bandgap_socket::TUNING,
        }
    }

    /// The raw floor that half a round trip is compared with.
    pub fn floor(self) -> &'static str {
        match self {
            Self::Shm => "cache_line",
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::Udp => "udp",
        }
    }
}

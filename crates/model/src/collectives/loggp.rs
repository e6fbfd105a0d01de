//! Messages on a LogGP machine.

use bandgap_units::{Bytes, Ns};

use super::PointToPoint;

/// A LogGP machine, with the overheads of sending and receiving told apart, and a time for
/// additions.
///
/// *Formula*: a message takes os + L + or + n·G; a sender sends one per max(os, g, n·G), and a rank
/// passes on one per max(os + or, g, n·G).
/// *Assumes* g ≤ os + L: an interface is free when its message has arrived.
/// *Source*: Alexandrov et al. 1995; as in the simulator, a message of n bytes takes n·G where they
/// have (n − 1)·G.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogGp {
    /// os.
    pub send_overhead: Ns,
    /// or.
    pub recv_overhead: Ns,
    /// L.
    pub latency: Ns,
    /// g.
    pub gap: Ns,
    /// G, for each byte.
    pub gap_per_byte: Ns,
    /// γ: the time of an addition, for each byte of the sum.
    pub add_per_byte: Ns,
}

impl LogGp {
    fn transfer(&self, bytes: Bytes) -> Ns {
        self.gap_per_byte * bytes.0 as f64
    }

    fn occupied(&self, bytes: Bytes) -> Ns {
        self.gap.max(self.transfer(bytes))
    }
}

impl PointToPoint for LogGp {
    fn message(&self, bytes: Bytes) -> Ns {
        self.send_overhead + self.latency + self.transfer(bytes) + self.recv_overhead
    }

    fn send_interval(&self, bytes: Bytes) -> Ns {
        self.send_overhead.max(self.occupied(bytes))
    }

    fn relay_interval(&self, bytes: Bytes) -> Ns {
        (self.send_overhead + self.recv_overhead).max(self.occupied(bytes))
    }

    fn addition(&self, bytes: Bytes) -> Ns {
        self.add_per_byte * bytes.0 as f64
    }
}

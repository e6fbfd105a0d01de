//! Messages by Hockney's line.

use bandgap_units::{Bytes, Ns, Rate};

use super::PointToPoint;

/// Hockney's t(n) = t0 + n/r∞: α and β = 1/r∞ of the literature on collectives.
///
/// *Formula*: a message takes t0 + n/r∞, and so long its ranks do nothing else, except that a rank
/// can send one and receive one at the same time.
/// *Source*: Hockney, "The Communication Challenge for MPP", 1994; Thakur, Rabenseifner, Gropp 2005,
/// on its cost model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hockney {
    /// t0, α.
    pub startup: Ns,
    /// r∞, 1/β.
    pub rate: Rate,
}

impl PointToPoint for Hockney {
    fn message(&self, bytes: Bytes) -> Ns {
        self.startup + Ns::from_secs(bytes.0 as f64 / self.rate.0)
    }

    fn send_interval(&self, bytes: Bytes) -> Ns {
        self.message(bytes)
    }

    fn relay_interval(&self, bytes: Bytes) -> Ns {
        self.message(bytes)
    }
}

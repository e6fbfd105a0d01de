//! What single messages cost.

use bandgap_units::{Bytes, Ns};

/// What messages between two ranks cost.
pub trait PointToPoint {
    /// From when a rank begins to send a message until its receiver has it. As much for both ranks
    /// of an exchange.
    fn message(&self, bytes: Bytes) -> Ns;

    /// From when a rank begins to send a message until it can begin to send the next one as if it
    /// were the first. At most [`PointToPoint::message`], and as long where nothing else is said.
    fn send_interval(&self, bytes: Bytes) -> Ns {
        self.message(bytes)
    }

    /// The same between two messages that a rank receives and passes on.
    fn relay_interval(&self, bytes: Bytes) -> Ns {
        self.message(bytes)
    }
}

/// How many doublings it takes from one rank to so many: ⌈log₂ ranks⌉.
pub(super) fn rounds(ranks: usize) -> u32 {
    ranks.next_power_of_two().trailing_zeros()
}

/// The longest of `count` blocks of whole units.
pub(super) fn longest_block(bytes: Bytes, unit: u64, count: usize) -> Bytes {
    Bytes((bytes.0 / unit).div_ceil(count as u64) * unit)
}

/// The time of an allgather of `count` blocks, a power of two, by recursive doubling.
///
/// *Formula*: Σ m(2ʲ·b) for j = 0 … log₂ count − 1, with m the time of a message.
pub(super) fn doubling(on: &dyn PointToPoint, block: Bytes, count: usize) -> Ns {
    let steps = (0..rounds(count)).map(|step| on.message(Bytes(block.0 << step)));
    steps.fold(Ns::ZERO, |all, step| all + step)
}

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
    /// r∞, 1/β, in bytes per second.
    pub rate: f64,
}

impl PointToPoint for Hockney {
    fn message(&self, bytes: Bytes) -> Ns {
        self.startup + Ns::from_secs(bytes.0 as f64 / self.rate)
    }
}

/// Costs of messages up to some length, and of longer ones: the protocols of a machine, or the
/// segments of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct ByLength {
    /// The longest message of each, ascending, and its costs.
    pub up_to: Vec<(Bytes, Hockney)>,
    /// The costs of all longer ones.
    pub longer: Hockney,
}

impl PointToPoint for ByLength {
    fn message(&self, bytes: Bytes) -> Ns {
        let found = self.up_to.iter().find(|(most, _)| bytes <= *most);
        found.map_or(&self.longer, |(_, costs)| costs).message(bytes)
    }
}

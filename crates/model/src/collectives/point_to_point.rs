//! What single messages cost.

use bandgap_units::{Bytes, Ns};

/// What messages between two ranks cost.
pub trait PointToPoint {
    /// From when a rank begins to send a message until its receiver has it. As much for both ranks
    /// of an exchange.
    fn message(&self, bytes: Bytes) -> Ns;

    /// From when a rank begins to send a message until it can begin to send the next one as if it
    /// were the first. At most [`PointToPoint::message`].
    fn send_interval(&self, bytes: Bytes) -> Ns;

    /// The same between two messages that a rank receives and passes on.
    fn relay_interval(&self, bytes: Bytes) -> Ns;
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
pub(super) fn doubling(on: &impl PointToPoint, block: Bytes, count: usize) -> Ns {
    let steps = (0..rounds(count)).map(|step| on.message(Bytes(block.0 << step)));
    steps.fold(Ns::ZERO, |all, step| all + step)
}

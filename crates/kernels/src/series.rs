//! Kernels over message sizes.

use crate::Pair;

/// How a kernel is measured over message sizes and numbers of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// The series' name on the command line and in run files.
    pub name: &'static str,
    /// What its operation is, and what the time of a point is.
    pub meaning: &'static str,
    /// Equal parts of one operation, of which the time of a point is one: 2 where that is half of a
    /// round trip.
    pub parts: u32,
    /// Whether all ranks take part, rather than two.
    pub of_all: bool,
    /// Whether its messages have a size; a barrier has none, and a rate instead of a bandwidth.
    pub sized: bool,
    /// Messages of the size that one operation moves between so many ranks: the bandwidth counts
    /// them all.
    pub moves: fn(usize) -> u64,
}

impl Series {
    /// A series whose point is one operation between two ranks, which moves one message.
    pub const fn between_two(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, parts: 1, of_all: false, sized: true, moves: |_| 1 }
    }

    /// A series whose point is one operation of all ranks, which moves so many messages.
    pub const fn of_all(
        name: &'static str,
        meaning: &'static str,
        moves: fn(usize) -> u64,
    ) -> Self {
        Self { name, meaning, parts: 1, of_all: true, sized: true, moves }
    }
}

/// So many messages of a size: a point of a series, or a layer beside its floors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtSize {
    /// Bytes of a message (n).
    pub bytes: usize,
    /// Operations of a sample (M).
    pub messages: u32,
    /// Between which ranks, where two take part.
    pub pair: Pair,
}

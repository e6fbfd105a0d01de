//! What goes wrong between two ends.

/// What has gone wrong at one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mishaps {
    /// Datagrams sent again.
    pub repeated: u64,
    /// Datagrams that had arrived before.
    pub duplicates: u64,
    /// Datagrams that arrived before their turn and were dropped.
    pub early: u64,
    /// Datagrams that were not the peer's, were changed on their way, or were invalid.
    pub refused: u64,
}

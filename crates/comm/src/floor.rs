//! What every raw floor measurement needs to be told.
//!
//! A floor is the same exchange done by a plain loop on the bare mechanism
//! (a socket, two cache lines), without frames, handlers or credits. It bounds
//! from below what any program on that mechanism can reach.

/// Which side of a two-sided floor measurement a process plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Sends first and holds the timer.
    Initiator,
    /// Answers, and times nothing.
    Responder,
}

/// How much a floor measurement does; both sides are given the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// Number of samples taken, each one interval of the timer.
    pub samples: u32,
    /// Number of repetitions inside one sample, for example round trips.
    pub rounds: u32,
}

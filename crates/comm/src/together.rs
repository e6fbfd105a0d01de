//! Both ends of a connection on one processor: what of a message's time is software.

use crate::{Result, Timer, Transport};

/// Does so many round trips, with computations of so many blocks, and returns the ticks of all.
pub type RoundTrips<T> = dyn Fn(u32, u32, &T) -> u64;

/// Both ends of a connection that one processor holds.
pub struct BothEnds<E, T> {
    /// Ranks 0 and 1.
    pub ends: [E; 2],
    /// Does the stores and loads of so many round trips over such lines, without any software above them: those of the
    /// requester, a stamp, those of the replier, a stamp. The computation stands before each store.
    pub lines: Box<RoundTrips<T>>,
}

/// A transport over memory that ranks share, whose messages' time is the transfer of a line and software.
pub trait Together: Transport {
    /// The floor that times the transfer of a line.
    const LINE: &'static str;

    /// Both ends of a connection within this process.
    ///
    /// # Errors
    /// The operating system refused.
    fn both_ends<T: Timer>() -> Result<BothEnds<Self::Endpoint, T>>;
}

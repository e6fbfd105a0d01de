//! The clock and computation as rank programs see them.

use serde::{Deserialize, Serialize};

/// A time stamp in ticks of the clock that made it. A rank program cannot look into it;
/// [`Stamp::ticks`] is for the reductions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp(u64);

impl Stamp {
    /// A stamp of this many ticks.
    #[inline(always)]
    pub fn from_ticks(ticks: u64) -> Self {
        Self(ticks)
    }

    /// Ticks since the clock's origin.
    #[inline(always)]
    pub fn ticks(self) -> u64 {
        self.0
    }
}

/// A clock that stamps, and a processor that works for a controlled time.
pub trait Timer: 'static {
    /// The present, ordered against the memory accesses before and after it.
    fn stamp(&self) -> Stamp;
    /// Runs so many iterations of the calibrated loop of dependent arithmetic: the Δ of the
    /// signature. It reads no clock and touches no memory.
    fn work(&self, iterations: u32);
}

/// A controlled amount of computation: the Δ of the LogP signature.
///
/// It has two forms: the iterations that a processor executes, and the time that they take, which
/// the simulator uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// Iterations of the loop.
    pub iterations: u32,
    /// Their time in picoseconds, by calibration.
    pub picoseconds: u64,
}

impl Delay {
    /// No computation.
    pub const NONE: Self = Self { iterations: 0, picoseconds: 0 };
}

//! The clock and the computation that rank programs use.

use serde::{Deserialize, Serialize};

/// A time stamp in ticks of the clock that made it. Rank programs treat it as opaque;
/// [`Stamp::ticks`] is for evaluation.
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

/// A clock for time stamps, and a processor that computes for a controlled time.
pub trait Timer: 'static {
    /// The current time, ordered with the memory accesses before and after it.
    fn stamp(&self) -> Stamp;
    /// Runs this many iterations of the calibrated loop of dependent arithmetic: the Δ of the
    /// signature. The loop reads no clock and accesses no memory.
    fn work(&self, iterations: u32);
}

/// A controlled amount of computation: the Δ of the LogP signature.
///
/// It is given both as iterations, which a processor executes, and as their time, which the
/// simulator uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// Iterations of the loop.
    pub iterations: u32,
    /// Time of the iterations in picoseconds, by calibration.
    pub picoseconds: u64,
}

impl Delay {
    /// No computation.
    pub const NONE: Self = Self { iterations: 0, picoseconds: 0 };
}

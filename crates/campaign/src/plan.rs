//! The precision and the time of a campaign.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::Measurements;
use crate::judge::Judged;

/// Samples of a batch ("Assessing Fast Network Interfaces", Small-message empirical results).
pub const BATCH: u32 = bandgap_stats::batch::BATCH as u32;

/// What the user asked for in every experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Half-width of an interval over its estimate at which a point is done. With 0 no point ever
    /// is, and the whole budget is spent.
    pub precision: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Time for all launches, in seconds. A launch ends with its share of it ([`Runner::ends`]).
    ///
    /// [`Runner::ends`]: crate::runner::Runner::ends
    pub budget: f64,
    /// Seed of the order of points and of resampling.
    pub seed: u64,
    /// Cost of the clock's stamps in nanoseconds, which is removed from every time; 0 in virtual
    /// time.
    pub stamp: f64,
    /// Whether messages are checked in every round, not only before the first timed batch.
    pub check: bool,
}

impl Asked {
    /// Judges measurements with this precision.
    pub fn judge<'a>(&self, table: &'a Measurements) -> Judged<'a> {
        Judged::of(table, self.confidence, self.precision, self.seed).stamped(self.stamp)
    }

    /// The same for times of one of many operations, where the clock's cost does not matter.
    pub fn unstamped(&self) -> Self {
        Self { stamp: 0.0, ..self.clone() }
    }

    /// The same for a simulated machine, whose stamps cost nothing and whose messages have no bytes
    /// to check.
    pub fn in_virtual_time(self) -> Self {
        Self { stamp: 0.0, check: false, ..self }
    }
}

/// The plan of one campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Precision and time.
    pub asked: Asked,
    /// Time between two rounds in seconds, to watch a machine for a while.
    pub pause: f64,
    /// This campaign's part of the whole measurement's progress.
    pub progress: Range<f64>,
    /// What is measured, shown before the progress; may be empty.
    pub title: String,
    /// Whether the transport's floors are measured too: in one campaign of a measurement only,
    /// since each counts its rounds from 0.
    pub floors: bool,
    /// Whether points are warmed up first.
    pub warm: bool,
}

impl Plan {
    /// A campaign that is the whole measurement, without pauses.
    pub fn new(asked: &Asked) -> Self {
        let (asked, title) = (asked.clone(), String::new());
        Self { asked, pause: 0.0, progress: 0.0..1.0, title, floors: true, warm: true }
    }
}

#[cfg(test)]
impl Asked {
    /// To 5 % with 95 % confidence within `budget`, for tests.
    pub fn usual(budget: f64) -> Self {
        let (precision, confidence, seed, stamp, check) = (0.05, 0.95, 1, 0.0, false);
        Self { precision, confidence, budget, seed, stamp, check }
    }
}

//! What a campaign is to reach, and in which time.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::Measurements;
use crate::judge::Judged;

/// Samples of a batch ("Assessing Fast Network Interfaces", Small-message empirical results).
pub const BATCH: u32 = bandgap_stats::batch::BATCH as u32;

/// What the user asked for, whatever is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Half-width of an interval over its estimate at which a point is done; with 0 no point ever
    /// is, and the whole budget is spent.
    pub precision: f64,
    /// Confidence level of intervals.
    pub confidence: f64,
    /// Time for one launch, in seconds.
    pub budget: f64,
    /// Seed of the order of points and of resampling.
    pub seed: u64,
    /// Cost of the clock's stamps, in nanoseconds: removed from every time. 0 in virtual time.
    pub stamp: f64,
    /// Whether messages are checked in every round, not only before the first timed batch.
    pub check: bool,
}

impl Asked {
    /// What was measured, seen with this precision.
    pub fn judge<'a>(&self, table: &'a Measurements) -> Judged<'a> {
        Judged::of(table, self.confidence, self.precision, self.seed).stamped(self.stamp)
    }

    /// The same for values that are times of one of many operations, or were measured otherwise:
    /// the clock's cost is small beside what it read for them.
    pub fn unstamped(&self) -> Self {
        Self { stamp: 0.0, ..self.clone() }
    }

    /// The same of a simulated machine, whose stamps cost nothing, and whose messages have no bytes to check.
    pub fn in_virtual_time(self) -> Self {
        Self { stamp: 0.0, check: false, ..self }
    }

    /// The same with another time, in seconds.
    pub fn within(&self, budget: f64) -> Self {
        Self { budget, ..self.clone() }
    }
}

/// How one campaign goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What is enough.
    pub asked: Asked,
    /// Time between two rounds, in seconds: to watch a machine for a while, rather than to measure.
    pub pause: f64,
    /// The part of the whole measurement's progress that this campaign is.
    pub progress: Range<f64>,
    /// What is measured, in front of what is said about the progress; may be empty.
    pub title: String,
    /// Whether the floors of the transport are measured beside: by one campaign of a measurement, since
    /// each counts its rounds from 0.
    pub floors: bool,
}

impl Plan {
    /// A campaign that is the whole measurement, without pauses.
    pub fn new(asked: &Asked) -> Self {
        let (asked, title) = (asked.clone(), String::new());
        Self { asked, pause: 0.0, progress: 0.0..1.0, title, floors: true }
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

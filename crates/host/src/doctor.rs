//! Is this machine fit to measure on? Pure: everything that is judged is an argument.

mod processor;
mod system;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::{ClockReport, Description, NoiseReport, Placement, Topology};

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// As it should be.
    Good,
    /// Worth knowing; results stand.
    Note,
    /// Results are less exact, or hold only under a condition.
    Warning,
    /// Results mean something else than they say, or a run will fail.
    Bad,
}

/// One thing examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was examined.
    pub name: String,
    /// How it went.
    pub grade: Grade,
    /// What was seen.
    pub found: String,
    /// Why that matters.
    pub matters: String,
    /// What to do, with a command where there is one; `None` where there is nothing to do.
    pub advice: Option<String>,
}

impl Check {
    fn new(name: &str, grade: Grade, found: impl Into<String>, matters: &str) -> Self {
        Self {
            name: name.to_owned(),
            grade,
            found: found.into(),
            matters: matters.to_owned(),
            advice: None,
        }
    }

    fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// What became of pinning the ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// Not tried.
    #[default]
    Unknown,
    /// Every rank is on its core.
    Held,
    /// Refused, with the reason.
    Refused(String),
}

/// A state that a virtual host's placement was found in: the cache line's half round trip in
/// nanoseconds, and the share of the time spent in it.
pub type PlacementState = (f64, f64);

/// Everything that is judged.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// What the machine is.
    pub description: &'a Description,
    /// Its cores.
    pub topology: &'a Topology,
    /// Its clock.
    pub clock: &'a ClockReport,
    /// Noise of the cores looked at, with each core's number; may be empty.
    pub noise: &'a [(usize, NoiseReport)],
    /// Which rank runs where.
    pub placement: &'a Placement,
    /// Whether they stay there.
    pub pinning: Pinning,
    /// The states that cache-line probes fell into, where they were taken.
    pub states: Option<&'a [PlacementState]>,
}

/// Judges the machine, in the order in which a reader should look: the clock, the cores, the
/// system.
pub fn examine(evidence: &Evidence<'_>) -> Vec<Check> {
    vec![
        processor::timer(evidence.clock),
        processor::cores(evidence),
        processor::pinning(&evidence.pinning),
        processor::smt(evidence),
        processor::governor(evidence.description),
        system::noise(evidence),
        system::load(evidence),
        system::virtual_machine(evidence),
        system::memlock(evidence.description),
        system::nofile(evidence),
    ]
}

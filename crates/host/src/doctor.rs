//! Checks whether this machine is fit to measure on. They are pure functions of their arguments.

mod processor;
mod system;

use serde::Serialize;

use crate::{ClockReport, Description, NoiseReport, Placement, Topology};

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// As it should be.
    Good,
    /// Worth knowing; results are valid.
    Note,
    /// Results are less accurate, or valid only under a condition.
    Warning,
    /// Results do not mean what they say, or a run will fail.
    Bad,
}

/// A check and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Name of the check.
    pub name: String,
    /// The outcome.
    pub grade: Grade,
    /// Finding.
    pub found: String,
    /// Why it matters.
    pub matters: String,
    /// What to do, as a command if possible; `None` if there is nothing to do.
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

/// Whether ranks can be pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// Not tried.
    #[default]
    Unknown,
    /// Every rank is on its core.
    Held,
    /// Refused, for this reason.
    Refused(String),
}

/// One placement state of a virtual machine: half a round trip of a cache line in nanoseconds, and
/// the share of time spent in this state.
pub type PlacementState = (f64, f64);

/// Everything that the checks use.
pub struct Evidence<'a> {
    /// Facts about the machine.
    pub description: &'a Description,
    /// Its cores.
    pub topology: &'a Topology,
    /// Its clock.
    pub clock: &'a ClockReport,
    /// Noise of the cores that were measured, with each core's number; may be empty.
    pub noise: &'a [(usize, NoiseReport)],
    /// Which rank runs where.
    pub placement: &'a Placement,
    /// Whether the ranks stay on their cores.
    pub pinning: Pinning,
    /// The placement states that cache-line probes found, if probes were taken.
    pub states: Option<&'a [PlacementState]>,
}

/// Checks the machine. The order is that in which to read the results: clock, cores, system.
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
    ]
}

#[cfg(test)]
mod tests;

//! The set-up of a run. Two comparable runs have the same set-up, but for intended differences.

use bandgap_units::Library;
use serde::{Deserialize, Serialize};

/// The set-up of a run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// The machine and the program.
    pub machine: MachineSetup,
    /// One for each series, or experiment without series, and transport.
    pub of: Vec<ExperimentSetup>,
}

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineSetup {
    /// Names of the hosts; empty in virtual time.
    pub hosts: Vec<String>,
    /// Number of physical cores of the host where the command ran.
    pub cores: Option<u64>,
    /// Model of its processors.
    pub processor: Option<String>,
    /// Its frequency governors.
    pub governor: Option<String>,
    /// Build of bandgap: architecture, system and profile.
    pub build: String,
}

/// The set-up of a series or another experiment over a transport.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExperimentSetup {
    /// Name of the series or experiment: `comms1`, `logp`.
    pub experiment: String,
    /// The transport as on the command line; empty if the experiment covers all.
    pub transport: String,
    /// Message sizes in bytes, ascending.
    pub sizes: Vec<u64>,
    /// Number of ranks.
    pub ranks: u64,
    /// How ranks waited: `spin`, `yield` or `block`; none in virtual time.
    pub wait: Option<String>,
    /// Whether launches of a simulated machine differ.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// The memory of the messages, if the same for all.
    pub buffers: Option<String>,
    /// Shape of the repetitions, if not bandgap's own.
    pub shape: Option<String>,
    /// Placement of the ranks.
    pub placement: PlacementSetup,
    /// The message passing library, if any.
    pub library: Option<Library>,
}

/// Placement of an experiment's ranks.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlacementSetup {
    /// Processors by rank; empty in virtual time.
    pub cores: Vec<u64>,
    /// Hosts by rank; empty if all ranks are on one host.
    pub hosts: Vec<String>,
    /// The distance between ranks 0 and 1: `shared L3`, or `network` between hosts.
    pub distance: Option<String>,
    /// Whether ranks shared processors.
    pub oversubscribed: bool,
}

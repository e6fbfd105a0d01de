//! The set-up of a run: what two runs must share, or differ in on purpose, to be compared.

use bandgap_units::Library;
use serde::{Deserialize, Serialize};

/// The set-up of a run.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// The machine, and the program on it.
    pub machine: MachineSetup,
    /// One for each series over a transport; of what is no series, for the experiment.
    pub of: Vec<ExperimentSetup>,
}

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineSetup {
    /// The names of the hosts; none in virtual time.
    pub hosts: Vec<String>,
    /// Physical cores of the host where the command ran.
    pub cores: Option<u64>,
    /// The model of its processors.
    pub processor: Option<String>,
    /// Its frequency governors.
    pub governor: Option<String>,
    /// How bandgap was built: architecture, system and profile.
    pub build: String,
}

/// The set-up of a series or another experiment over a transport.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExperimentSetup {
    /// The name of the series, or else of the experiment: `comms1`, `logp`.
    pub experiment: String,
    /// The transport as the command line names it; empty where the experiment goes over all.
    pub transport: String,
    /// Bytes of the messages, ascending.
    pub sizes: Vec<u64>,
    /// Number of ranks.
    pub ranks: u64,
    /// How ranks waited: `spin`, `yield` or `block`; none in virtual time.
    pub wait: Option<String>,
    /// Which memory messages lie in, where that is the same for all.
    pub buffers: Option<String>,
    /// How repetitions are shaped, where it is not bandgap's own way.
    pub shape: Option<String>,
    /// Where the ranks were.
    pub placement: PlacementSetup,
    /// The library that the messages went through, if any.
    pub library: Option<Library>,
}

/// Where the ranks of an experiment were.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlacementSetup {
    /// Processors by rank; none in virtual time.
    pub cores: Vec<u64>,
    /// Hosts by rank; none where all ranks are on one.
    pub hosts: Vec<String>,
    /// The distance between ranks 0 and 1.
    pub distance: Option<String>,
    /// Whether ranks shared processors.
    pub oversubscribed: bool,
}

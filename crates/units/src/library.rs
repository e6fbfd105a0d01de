//! What ranks communicate through, where it is not bandgap's own.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A library of a transport, as a rank found it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Library {
    /// Its name and number: `MPICH 4.0.2`.
    pub name: String,
    /// All that it says of its version.
    pub version: String,
    /// Its file, without links.
    pub path: String,
    /// The command that started the ranks, where bandgap knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher: Option<String>,
    /// What it sends with, where that is known: `pml ucx` of Open MPI, `ch4:ucx` of MPICH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sends_with: Option<String>,
    /// The variables of rank 0 that are for it, or for what is below it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// What else is known: `build`, `transports` or `domain` in use, `progress`, the `fabric` below an MPI; `tried`, the
    /// versions that bandgap was tried with, if this is none of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
    /// The time, in seconds, that it claims to take for a message to rank 1, by number of bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<u64, f64>,
    /// Its transports or providers with their devices or addresses, where they were asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ways: Ways,
}

impl Library {
    /// This library, with the variables of this process whose names are for it.
    pub fn of([name, version]: [String; 2], path: &Path, is_its: impl Fn(&str) -> bool) -> Self {
        let text = |of: OsString| of.to_string_lossy().into_owned();
        let all = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
        let (path, environment) =
            (path.display().to_string(), all.filter(|(name, _)| is_its(name)).collect());
        Self { name, version, path, environment, ..Self::default() }
    }
}

/// Names of transports or providers, with devices or addresses.
pub type Ways = BTreeMap<String, BTreeSet<String>>;

//! Limits of this process.

use rustix::process::{Resource, getrlimit};
use serde::Serialize;

/// A soft limit, the one that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At most this many.
    AtMost(u64),
    /// No limit.
    Unlimited,
}

/// The limits that matter for communication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Bytes of memory that may be locked, as network adapters need (`ulimit -l`).
    pub memlock: Option<Limit>,
    /// Open files and sockets (`ulimit -n`).
    pub nofile: Option<Limit>,
}

impl Limits {
    /// The limits of this process.
    pub(super) fn read() -> Self {
        let soft = |of| Some(getrlimit(of).current.map_or(Limit::Unlimited, Limit::AtMost));
        Self { memlock: soft(Resource::Memlock), nofile: soft(Resource::Nofile) }
    }
}

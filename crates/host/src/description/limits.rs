//! Limits of this process.

use serde::{Deserialize, Serialize};

/// A soft limit, the one that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At most this many.
    AtMost(u64),
    /// No limit.
    Unlimited,
}

/// The limits that matter for communication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bytes of memory that may be locked, as network adapters need (`ulimit -l`).
    pub memlock: Option<Limit>,
    /// Open files and sockets (`ulimit -n`).
    pub nofile: Option<Limit>,
}

impl Limits {
    /// Parses the kernel's table of limits.
    pub(super) fn of(table: &str) -> Self {
        let soft = |name: &str| {
            let row = table.lines().find_map(|line| line.strip_prefix(name))?;
            match row.split_whitespace().next()? {
                "unlimited" => Some(Limit::Unlimited),
                number => number.parse().ok().map(Limit::AtMost),
            }
        };
        Self { memlock: soft("Max locked memory"), nofile: soft("Max open files") }
    }
}

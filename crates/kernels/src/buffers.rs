//! Where successive messages lie in memory, which decides what is in a cache when a message is
//! sent.

use std::str::FromStr;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::Refused;

/// Which memory messages of a timed batch are sent from and received into.
///
/// In a checked batch each message has its own places, whatever the policy. Under [`Buffers::Same`]
/// the replier still sends back what it received.
#[derive(Clone, Copy, Debug, Default, Display, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[display(rename_all = "snake_case")]
pub enum Buffers {
    /// One array that travels: a rank receives into the place that it sends from, and the replier
    /// sends back what it received. This is COMMS1's own rule.
    Same,
    /// One place to send from and one to receive into, neither ever rewritten. The source may
    /// therefore stay in the caches of both ranks, as in the OSU and Intel MPI benchmarks.
    #[default]
    Separate,
    /// Two rings of places: each message is sent from the next place of one and received into the
    /// next place of the other, so that neither is in a cache.
    #[display("fresh")]
    Fresh {
        /// Bytes of each of a rank's two rings; must exceed the caches.
        ring: usize,
    },
}

impl Buffers {
    /// A ring of 64 MiB: twice the 32 MiB of cache that a core reaches on many servers. If a core
    /// reaches more, use a longer ring.
    pub const FRESH: Self = Self::Fresh { ring: 64 << 20 };
    /// Longest ring, in bytes.
    pub const MOST_RING: usize = 1 << 30;
    /// Names that parsing accepts.
    pub const NAMES: [&'static str; 3] = ["same", "separate", "fresh"];

    /// Checks values that may come from a peer.
    ///
    /// # Errors
    /// The ring is too long.
    pub fn check(self) -> Result<(), Refused> {
        let ring = if let Self::Fresh { ring } = self { ring } else { 0 };
        let most = Self::MOST_RING;
        Refused::unless(ring <= most, || {
            format!("a ring of {ring} bytes for fresh buffers is too long (limit {most})")
        })
    }
}

impl FromStr for Buffers {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::Same, Self::Separate, Self::FRESH];
        let found = all.into_iter().find(|buffers| buffers.to_string() == name);
        found.ok_or_else(|| {
            format!("{name:?} is not a kind of buffers; use one of {}", Self::NAMES.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in Buffers::NAMES {
            let buffers: Buffers = name.parse().unwrap();
            assert_eq!(buffers.to_string(), name);
            buffers.check().unwrap();
            let json = serde_json::to_string(&buffers).unwrap();
            assert_eq!(serde_json::from_str::<Buffers>(&json).unwrap(), buffers);
        }
        assert_eq!(serde_json::to_string(&Buffers::Same).unwrap(), "\"same\"");
        assert!("fresher".parse::<Buffers>().unwrap_err().contains("same, separate, fresh"));
        let huge = Buffers::Fresh { ring: usize::MAX }.check().unwrap_err();
        assert!(huge.to_string().contains("1073741824"), "{huge}");
    }
}

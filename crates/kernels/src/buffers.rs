//! Where successive messages lie: what is in a cache when a message is sent.

use std::str::FromStr;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::Refused;

/// Which memory the messages of a timed batch are sent from and received into.
///
/// In a checked batch each message has places of its own, whatever this says. Under
/// [`Buffers::Same`] the rank that answers still sends back what it received.
#[derive(Clone, Copy, Debug, Default, Display, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[display(rename_all = "snake_case")]
pub enum Buffers {
    /// One array that travels: a rank receives into the place that it sends from, and the rank that
    /// answers sends back what it received. COMMS1's own rule.
    Same,
    /// A place to send from and one to receive into, both never rewritten. So the source may stay in
    /// the caches of both ranks, as in the OSU and Intel MPI benchmarks.
    #[default]
    Separate,
    /// As separate, but each message goes from and into the next place of a ring, so that neither
    /// is in a cache.
    #[display("fresh")]
    Fresh {
        /// Bytes of each of the two rings of a rank: more than the caches hold.
        ring: usize,
    },
}

impl Buffers {
    /// A ring of 64 MiB: twice the 32 MiB of cache that a core reaches on many servers. Where a
    /// core reaches more than that, take a longer one.
    pub const FRESH: Self = Self::Fresh { ring: 64 << 20 };
    /// The longest ring.
    pub const MOST_RING: usize = 1 << 30;
    /// The names that are read.
    pub const NAMES: [&'static str; 3] = ["same", "separate", "fresh"];

    /// Checks values that may come from a peer.
    ///
    /// # Errors
    /// The ring is too long.
    pub fn check(self) -> Result<(), Refused> {
        let ring = if let Self::Fresh { ring } = self { ring } else { 0 };
        let most = Self::MOST_RING;
        Refused::unless(ring <= most, || {
            format!("a ring of {ring} bytes of fresh places: at most {most} are possible")
        })
    }
}

impl FromStr for Buffers {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::Same, Self::Separate, Self::FRESH];
        let found = all.into_iter().find(|buffers| buffers.to_string() == name);
        found.ok_or_else(|| {
            format!("{name:?} says not where messages lie; possible: {}", Self::NAMES.join(", "))
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

//! Floors that are measured beside an experiment, in the same rounds, so that a result and its floor are neighbours in
//! time.

mod points;

use bandgap_comm::{Floor, Yields};
use serde::{Deserialize, Serialize};

pub(crate) use points::{points, split};

/// The longest message that is compared with a floor that yields no rate.
pub const WORD: u64 = size_of::<u64>() as u64;

/// A floor, and the results that are compared with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// The floor.
    pub floor: Floor,
    /// Names of signatures and series.
    pub results: Vec<String>,
}

impl Beside {
    /// Whether it is a floor of this result, for messages of so many bytes: of as many as the floor moves, or of no more
    /// than a word where it yields no rate.
    pub fn is_of(&self, result: &str, bytes: u64) -> bool {
        let alike = match self.floor.yields {
            Yields::HalfRoundTrip | Yields::Operation => bytes <= WORD,
            Yields::Bytes(moved) | Yields::BytesEachWay(moved) => bytes == moved,
        };
        alike && self.has(result)
    }

    /// Whether results of this name are compared with it.
    pub fn has(&self, result: &str) -> bool {
        self.results.iter().any(|of| of == result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(yields: Yields) -> Beside {
        let floor = Floor::over_places("floor", "", yields, 10, 64);
        Beside { floor, results: vec!["echo".into(), "comms1".into()] }
    }

    #[test]
    fn a_floor_is_of_messages_as_long_as_its_own() {
        let word = beside(Yields::HalfRoundTrip);
        assert!(word.is_of("echo", 8) && word.is_of("comms1", 0));
        assert!(!word.is_of("echo", 9) && !word.is_of("comms2", 8));
        let long = beside(Yields::Bytes(1 << 20));
        assert!(long.is_of("echo", 1 << 20));
        assert!(!long.is_of("echo", 1 << 19) && !long.is_of("echo", 8));
    }
}

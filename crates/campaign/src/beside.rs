//! Floors that are measured beside an experiment, in the same rounds, so that a result and its floor are neighbours in
//! time.

use bandgap_comm::{Floor, Yields};
use bandgap_kernels::Order;
use serde::{Deserialize, Serialize};

use crate::experiment::Point;
use crate::floors::{key, order, samples_of};
use crate::key::Key;
use crate::runner::{Executed, Runner, Stop};

/// Samples of a batch. There is one batch in each round, which must cost little beside the others.
const SAMPLES: u32 = 16;
/// The same of floors that move many bytes.
const FEW_SAMPLES: u32 = 5;

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
            Yields::HalfRoundTrip | Yields::Operation => bytes <= size_of::<u64>() as u64,
            Yields::Bytes(moved) | Yields::BytesEachWay(moved) => bytes == moved,
        };
        alike && self.results.iter().any(|of| of == result)
    }

    fn order(&self) -> Order {
        let samples = if self.floor.yields.bytes().is_some() { FEW_SAMPLES } else { SAMPLES };
        Order { samples, ..order(&self.floor) }
    }

    /// The samples of a batch under the floor's key.
    pub(crate) fn split(&self, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        vec![(key(&self.floor.name), samples_of(&self.floor, done))]
    }
}

/// The points of the floors that the runner measures beside whatever it measures, each warmed up once.
///
/// # Errors
/// As [`Runner::run`].
pub(crate) fn points(floors: &[Beside], runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
    let mut points = Vec::new();
    for beside in floors {
        let order = beside.order();
        runner.run(&order)?;
        points.push(Point { checkable: false, ..Point::new(key(&beside.floor.name), order) });
    }
    Ok(points)
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

    #[test]
    fn a_batch_beside_others_is_short() {
        assert_eq!(beside(Yields::HalfRoundTrip).order().samples, SAMPLES);
        assert_eq!(beside(Yields::Bytes(1 << 20)).order().samples, FEW_SAMPLES);
    }
}

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
    use crate::pairs::PairsPlan;
    use crate::plan::Asked;
    use crate::planned::Planned;
    use crate::scripted::{Scripted, taking};

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

    #[test]
    fn floors_are_measured_in_every_round_as_long_as_anything_is() {
        let asked = Asked { precision: 0.0, ..Asked::usual(10.0) };
        let plan = PairsPlan::short(&asked);
        let run = |virtual_time| {
            let mut runner = Scripted::steady(1000.0);
            (runner.cost, runner.size, runner.virtual_time) = (0.1, 2, virtual_time);
            runner.beside = vec![beside(Yields::HalfRoundTrip)];
            plan.lead(&mut runner).unwrap();
            runner
        };
        let runner = run(false);
        let of = |what: &str| -> Vec<u32> {
            let keys = runner.kept.iter().filter(|(key, _)| key.what() == what);
            keys.flat_map(|(_, batches)| batches).map(|batch| batch.round).collect()
        };
        let (floors, pairs) = (of(crate::floors::FLOOR), of(crate::pairs::PAIR_RTT));
        // Time ends somewhere in the last round.
        assert!(
            floors.len() > 5 && floors.len().abs_diff(pairs.len()) <= 1,
            "{floors:?} {pairs:?}"
        );
        assert!(floors.windows(2).all(|rounds| rounds[1] == rounds[0] + 1));
        // Half of ten round trips that take 1000 ns.
        assert_eq!(runner.kept.batches(&key("floor"))[0].samples, [50.0; SAMPLES as usize]);
        // A floor has no messages that could be checked.
        assert!(runner.checked().all(|order| order.kernel != "floor"));
        assert!(run(true).kept.batches(&key("floor")).is_empty());
    }

    #[test]
    fn floors_do_not_keep_anything_open() {
        // Each batch of the floor takes longer than the one before.
        let mut batches = 0;
        let mut runner = Scripted::new(move |order| {
            batches += u32::from(order.kernel == "floor");
            let times = if order.kernel == "floor" { f64::from(batches) } else { 1.0 };
            Ok(taking(order, 1000.0 * times))
        });
        runner.beside = vec![beside(Yields::HalfRoundTrip)];
        PairsPlan::short(&Asked::usual(1e9)).lead(&mut runner).unwrap();
        assert_eq!(runner.kept.batches(&key("floor")).len(), crate::judge::MIN_BATCHES);
    }
}

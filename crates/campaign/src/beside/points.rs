//! The points and batches of floors that are measured beside an experiment.

use bandgap_comm::Floor;
use bandgap_kernels::{Order, Refused};

use super::Beside;
use crate::bare::{key, order, samples_of};
use crate::experiment::Point;
use crate::key::Key;
use crate::runner::Executed;

/// Samples of a batch. There is one batch in each round, which must cost little beside the others.
const SAMPLES: u32 = 16;
/// The same of floors that move many bytes, of which a sample is one round: as short as those that it is compared with, it
/// is disturbed as seldom.
const FEW_SAMPLES: u32 = 5;

/// The floor with as many rounds a sample as it has beside other results.
fn short(floor: &Floor) -> Floor {
    let rounds = if floor.yields.bytes().is_some() { 1 } else { floor.rounds };
    Floor { rounds, ..floor.clone() }
}

fn order_of(beside: &Beside) -> Result<Order, Refused> {
    let samples = if beside.floor.yields.bytes().is_some() { FEW_SAMPLES } else { SAMPLES };
    Ok(Order { samples, ..order(&short(&beside.floor), beside.floor.bytes())? })
}

/// The samples of a batch under the floor's key.
pub(crate) fn split(beside: &Beside, done: &Executed) -> Vec<(Key, Vec<f64>)> {
    vec![(key(&beside.floor.name), samples_of(&short(&beside.floor), done))]
}

/// The points of the floors that the runner measures beside whatever it measures.
pub(crate) fn points(floors: &[Beside]) -> Result<Vec<Point>, Refused> {
    let point = |beside: &Beside| {
        let order = order_of(beside)?;
        Ok(Point { checked: None, ..Point::new(key(&beside.floor.name), order) })
    };
    floors.iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use bandgap_comm::Yields;

    use super::*;
    use crate::bare::FLOOR;
    use crate::pairs::PairsPlan;
    use crate::plan::Asked;
    use crate::planned::Planned;
    use crate::tests::scripted::{Scripted, taking};

    fn beside(yields: Yields) -> Beside {
        Beside { floor: Floor::over_places("floor", "", yields, 10, 64), results: Vec::new() }
    }

    #[test]
    fn a_batch_beside_others_is_short() {
        let of = |yields| {
            let order = order_of(&beside(yields)).unwrap();
            (order.samples, order.parameters["rounds"].as_u64())
        };
        assert_eq!(of(Yields::HalfRoundTrip), (SAMPLES, Some(10)));
        assert_eq!(of(Yields::Bytes(1 << 20)), (FEW_SAMPLES, Some(1)));
        // A sample is one copy, and so is its time.
        let done = taking(&order_of(&beside(Yields::Bytes(1 << 20))).unwrap(), 100.0);
        assert_eq!(split(&beside(Yields::Bytes(1 << 20)), &done)[0].1, [100.0; 5]);
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
        let (floors, pairs) = (of(FLOOR), of(crate::pairs::PAIR_RTT));
        // Time ends somewhere in the last round.
        assert!(
            floors.len() > 5 && floors.len().abs_diff(pairs.len()) <= 1,
            "{floors:?} {pairs:?}"
        );
        assert!(floors.windows(2).all(|rounds| rounds[1] == rounds[0] + 1));
        // Half of ten round trips that take 1000 ns.
        assert_eq!(runner.kept.batches(&key("floor"))[0].samples, [50.0; SAMPLES as usize]);
        // A floor has no messages that could be checked.
        assert!(runner.checked().all(|order| order.kernel != FLOOR));
        assert!(run(true).kept.batches(&key("floor")).is_empty());
    }

    #[test]
    fn floors_do_not_keep_anything_open() {
        // Each batch of the floor takes longer than the one before.
        let mut batches = 0;
        let mut runner = Scripted::new(move |order| {
            batches += u32::from(order.kernel == FLOOR);
            let times = if order.kernel == FLOOR { f64::from(batches) } else { 1.0 };
            Ok(taking(order, 1000.0 * times))
        });
        runner.beside = vec![beside(Yields::HalfRoundTrip)];
        PairsPlan::short(&Asked::usual(1e9)).lead(&mut runner).unwrap();
        // Eight rounds are the least, whatever it says.
        assert_eq!(runner.kept.batches(&key("floor")).len(), 8);
    }
}

//! Floors that are measured beside an experiment, in the same rounds, so that a result and its floor are neighbours in
//! time.

use bandgap_comm::Floor;
use serde::{Deserialize, Serialize};

/// The longest message that is compared with a floor that yields no rate.
pub const WORD: u64 = size_of::<u64>() as u64;
/// Samples per batch. Each round has one batch, which must cost little compared with the others.
const SAMPLES: u32 = 16;
/// Samples per batch of a floor that moves many bytes. Each is one round: as short as the samples that are compared
/// with it, so that it is disturbed as seldom.
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
    /// The floor with the rounds and samples that it has beside an experiment.
    pub(crate) fn short(&self) -> Floor {
        let (rounds, samples) = match self.floor.yields.bytes() {
            Some(_) => (1, FEW_SAMPLES),
            None => (self.floor.rounds, SAMPLES),
        };
        Floor { rounds, samples, ..self.floor.clone() }
    }

    /// Whether this result, with messages of `bytes` bytes, is compared with the floor. The floor must move as many
    /// bytes; if it yields no rate, the message must be no longer than a word.
    pub fn is_of(&self, result: &str, bytes: u64) -> bool {
        let moved = self.floor.yields.bytes();
        moved.map_or(bytes <= WORD, |moved| bytes == moved) && self.has(result)
    }

    /// Whether results of this name are compared with the floor.
    pub fn has(&self, result: &str) -> bool {
        self.results.iter().any(|of| of == result)
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::Yields;

    use super::*;
    use crate::bare::{FLOOR, key, order, samples_of};
    use crate::pairs::PairsPlan;
    use crate::plan::Asked;
    use crate::planned::Planned;
    use crate::tests::scripted::{Scripted, taking};

    fn beside(yields: Yields) -> Beside {
        let floor = Floor::new("floor", "", yields, 10).samples(64);
        Beside { floor, results: vec!["echo".into(), "comms1".into()] }
    }

    #[test]
    fn a_batch_beside_others_is_short() {
        let of = |yields| {
            let floor = beside(yields).short();
            (floor.samples, floor.rounds)
        };
        assert_eq!(of(Yields::HalfRoundTrip), (SAMPLES, 10));
        assert_eq!(of(Yields::Bytes(1 << 20)), (FEW_SAMPLES, 1));
        // A sample is one copy, and so is its time.
        let copy = beside(Yields::Bytes(1 << 20)).short();
        let done = taking(&order(&copy, 1 << 20).unwrap(), 100.0);
        assert_eq!(samples_of(&copy, &done), [100.0; 5]);
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

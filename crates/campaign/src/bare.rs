//! One floor or layer as a batch, and what a sample of it is worth.

use bandgap_comm::{Floor, Yields};
use bandgap_kernels::{AtSize, ISSUE, Order, Over, Refused, WHOLE, fact};
use serde_json::Value;

use crate::key::Key;
use crate::runner::Executed;

/// The name of floors and layers among keys.
pub const FLOOR: &str = "floor";

/// The key of a floor or a layer.
pub fn key(name: &str) -> Key {
    Key::new(FLOOR).at("name", name)
}

/// Ranks between which floors are measured.
pub const RANKS: usize = 2;
/// Samples of one batch, of floors at one place.
const SAMPLES: u32 = 20;

/// A batch of it. The order names the floor or layer, which is in no list of kernels, and says how many rounds a sample
/// has.
pub(crate) fn order(floor: &Floor) -> Order {
    let kernel = floor.name.to_string();
    let (checked, probed, way, at_border, shape) = Default::default();
    // Each place once, so that the batch is the mean over all. A warm-up has fewer samples, and so comes to the
    // first places only; the floor's own untimed exchanges warm each place before its sample.
    let samples = if floor.places > 1 { floor.places } else { SAMPLES };
    let (parameters, ranks) = (Value::from(floor.rounds), RANKS);
    Order { kernel, parameters, samples, ranks, checked, probed, way, at_border, shape }
}

/// The floor or layer as an order of it wants it: with so many rounds a sample.
pub fn as_ordered(floor: Floor, order: &Order) -> Floor {
    let rounds = order.parameters.as_u64().and_then(|rounds| u32::try_from(rounds).ok());
    Floor { rounds: rounds.unwrap_or(floor.rounds), ..floor }
}

/// The order of the kernel that a layer runs, for an order that names the layer; `None` for a floor.
///
/// # Errors
/// The kernel is unknown, or needs to know more than the number and the size of its messages.
pub fn kernel_order(floor: &Floor, named: &Order) -> Result<Option<Order>, Refused> {
    let Some(kernel) = &floor.kernel else { return Ok(None) };
    let round = AtSize::of(floor.bytes(), floor.rounds, named.ranks);
    let order = (fact(kernel)?.at)(round, named.samples, named.ranks)?;
    Ok(Some(Order { checked: named.checked, probed: named.probed, ..order }))
}

/// Nanoseconds of one round, of half of it where it goes there and back, from those of a sample.
///
/// *Formula*: t / rounds, or t / (2 · rounds).
pub(crate) fn per_round(floor: &Floor, ns: f64) -> f64 {
    let halves = match floor.yields {
        Yields::HalfRoundTrip | Yields::BytesEachWay(_) => 2.0,
        Yields::Operation | Yields::Bytes(_) => 1.0,
    };
    ns / (halves * f64::from(floor.rounds))
}

/// Nanoseconds of a round, from each sample of a batch.
pub(crate) fn samples_of(floor: &Floor, done: &Executed) -> Vec<f64> {
    done.column(column(floor)).iter().map(|ns| per_round(floor, *ns)).collect()
}

/// The column of samples that is its time. A transfer ends when it is complete, other kernels when
/// the last message is issued; a floor has one time.
pub(crate) fn column(floor: &Floor) -> &'static str {
    let kernel = floor.kernel.as_deref().and_then(|name| fact(name).ok());
    match kernel.map(|kernel| kernel.over) {
        None | Some(Over::Transfer) => WHOLE,
        Some(Over::Am | Over::Comm) => ISSUE,
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::Yields::{Bytes, BytesEachWay, HalfRoundTrip, Operation};
    use bandgap_kernels::facts;

    use super::*;

    fn layer(kernel: &'static str) -> Floor {
        Floor::layer("layer", "", Bytes(100), 3, &[], kernel)
    }

    #[test]
    fn a_layer_is_an_order_of_its_kernel_and_a_floor_is_none() {
        for (kernel, column_of) in [
            ("ping_pong", ISSUE),
            ("stream", ISSUE),
            ("comms1", ISSUE),
            ("store", WHOLE),
            ("get", WHOLE),
        ] {
            let layer = layer(kernel);
            let named = Order { checked: true, ..order(&layer) };
            let order = kernel_order(&layer, &named).unwrap().unwrap();
            assert_eq!((&*order.kernel, order.checked), (kernel, true));
            assert_eq!((order.samples, order.ranks), (named.samples, named.ranks));
            assert_eq!(order.parameters["messages"], 3);
            assert_eq!(column(&layer), column_of);
            (fact(kernel).unwrap().check)(&order, RANKS).unwrap();
        }
        let floor = Floor::new("floor", "", Operation, 1);
        assert_eq!(kernel_order(&floor, &order(&floor)), Ok(None));
        assert_eq!(column(&floor), WHOLE);
    }

    #[test]
    fn every_kernel_of_the_list_is_a_layer_or_is_refused_by_name() {
        let refused = |kernel| {
            let layer = layer(kernel);
            kernel_order(&layer, &order(&layer)).map_err(|refused| refused.to_string())
        };
        for fact in facts() {
            match refused(fact.name) {
                Ok(order) => assert_eq!(order.unwrap().kernel, fact.name),
                Err(text) => assert!(text.contains(&format!("{:?}", fact.name)), "{text}"),
            }
        }
        // One that needs to know more, and one that there is not.
        for (kernel, why) in [("burst", "more than"), ("ping-pong", "no such kernel")] {
            let text = refused(kernel).unwrap_err();
            assert!(text.contains(&format!("{kernel:?}")) && text.contains(why), "{text}");
        }
    }

    #[test]
    fn an_order_says_how_many_rounds_a_sample_has() {
        let floor = |rounds| Floor::new("floor", "", Bytes(100), rounds);
        assert_eq!(as_ordered(floor(8), &order(&floor(1))), floor(1));
        let silent = Order { parameters: Value::Null, ..order(&floor(1)) };
        assert_eq!(as_ordered(floor(8), &silent), floor(8));
    }

    #[test]
    fn a_batch_visits_each_place_once() {
        let samples =
            |places| order(&Floor::over_places("floor", "", Operation, 1, places)).samples;
        assert_eq!([1, 7, 64].map(samples), [SAMPLES, 7, 64]);
    }

    #[test]
    fn a_round_is_what_its_floor_yields() {
        for (yields, rounds, sample, round) in [
            // 500 round trips, of which half is the time.
            (HalfRoundTrip, 500, 100_000.0, 100.0),
            // 8192 whole operations.
            (Operation, 8192, 81_920.0, 10.0),
            // One copy.
            (Bytes(1 << 16), 1, 4000.0, 4000.0),
            // Once there and once back.
            (BytesEachWay(1 << 20), 1, 4000.0, 2000.0),
            // Eight writes one way.
            (Bytes(1 << 20), 8, 16_000.0, 2000.0),
        ] {
            let found = per_round(&Floor::new("any", "", yields, rounds), sample);
            assert!((found - round).abs() < 1e-9, "{yields:?}: {found}");
        }
    }
}

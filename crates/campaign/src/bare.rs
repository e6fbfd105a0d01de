//! Orders of floors and layers, and the time of one round from a sample.

use bandgap_comm::{Floor, Yields};
use bandgap_kernels::{AtSize, BareLoop, ISSUE, Order, Over, Refused, WHOLE, fact};

use crate::experiment::Point;
use crate::key::Key;
use crate::runner::Executed;

/// The name of floors and layers in keys.
pub const FLOOR: &str = "floor";

/// The key of a floor or a layer.
pub fn key(name: &str) -> Key {
    Key::new(FLOOR).at("name", name)
}

/// The key of a floor at one of its message lengths.
pub fn sized_key(name: &str, bytes: u64) -> Key {
    key(name).at("bytes", bytes)
}

/// The key under which the number of lost messages of a batch is kept.
pub fn lost_key(of: &Key) -> Key {
    of.clone().at("of", "lost")
}

/// Number of ranks between which floors are measured.
pub const RANKS: usize = 2;

/// A batch of a floor's loop or a layer's kernel with messages of `bytes` bytes.
///
/// # Errors
/// The kernel is unknown, or it needs parameters besides the number and the size of its messages.
pub fn order(floor: &Floor, bytes: u64) -> Result<Order, Refused> {
    let round = AtSize::of(bytes as usize, floor.rounds, RANKS);
    let order = match &floor.kernel {
        None => turned(floor, bytes, 0),
        Some(kernel) => (fact(kernel)?.at)(round, floor.samples, RANKS)?,
    };
    Ok(Order { on: Some(floor.on.to_string()), ..order })
}

/// A batch of a floor in which each side computes `turn` blocks before it sends, on the mechanism
/// below the transport that carries the orders.
pub(crate) fn turned(floor: &Floor, bytes: u64, turn: u32) -> Order {
    let (name, bytes, rounds) = (floor.name.to_string(), bytes as usize, floor.rounds);
    Order::of(&BareLoop { floor: name, bytes, rounds, turn }, floor.samples, RANKS)
}

/// The point of a floor or a layer with messages of `bytes` bytes. Only the messages of a layer can be checked.
pub(crate) fn point(floor: &Floor, key: Key, bytes: u64) -> Result<Point, Refused> {
    Ok(Point::new(key, order(floor, bytes)?).checked_if(floor.kernel.is_some()))
}

/// The time of one round in nanoseconds, or of half a round if bytes go there and back.
///
/// *Formula*: t / rounds, or t / (2 · rounds).
pub(crate) fn per_round(floor: &Floor, ns: f64) -> f64 {
    let halves = match floor.yields {
        Yields::HalfRoundTrip | Yields::BytesEachWay(_) => 2.0,
        Yields::Operation | Yields::Bytes(_) => 1.0,
    };
    ns / (halves * f64::from(floor.rounds))
}

/// The time of one round for each sample of a batch, in nanoseconds.
pub(crate) fn samples_of(floor: &Floor, done: &Executed) -> Vec<f64> {
    done.column(column(floor)).iter().map(|ns| per_round(floor, *ns)).collect()
}

/// The column of samples that holds the time. A transfer ends when it is complete; a batch of any other
/// kernel ends when its last message is issued. A floor has no other column.
pub(crate) fn column(floor: &Floor) -> &'static str {
    let kernel = floor.kernel.as_deref().and_then(|name| fact(name).ok());
    match kernel.map(|kernel| kernel.over) {
        Some(Over::Transfer) => WHOLE,
        _ => ISSUE,
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::Yields::{Bytes, BytesEachWay, HalfRoundTrip, Operation};
    use bandgap_kernels::facts;

    use super::*;

    fn layer(kernel: &'static str) -> Floor {
        Floor::new("layer", "", Bytes(100), 3).layer(&[], kernel)
    }

    #[test]
    fn a_layer_is_an_order_of_its_kernel_and_a_floor_of_its_loop() {
        for (kernel, column_of) in [
            ("ping_pong", ISSUE),
            ("request_stream", ISSUE),
            ("comms1", ISSUE),
            ("store", WHOLE),
            ("get", WHOLE),
        ] {
            let layer = Floor { on: "unix".into(), ..layer(kernel) };
            let order = order(&layer, layer.bytes()).unwrap();
            assert_eq!((&*order.kernel, order.on.as_deref()), (kernel, Some("unix")));
            assert_eq!((order.samples, order.ranks), (layer.samples, RANKS));
            assert_eq!(order.parameters["messages"], 3);
            assert_eq!(column(&layer), column_of);
            (fact(kernel).unwrap().check)(&order, RANKS).unwrap();
        }
        let floor = Floor::new("floor", "", Operation, 5).samples(64);
        let order = order(&floor, floor.bytes()).unwrap();
        let expected = BareLoop { floor: "floor".to_owned(), bytes: 8, rounds: 5, turn: 0 };
        assert_eq!((order.kernel(RANKS), order.samples), (Ok(expected), 64));
        assert_eq!(column(&floor), ISSUE);
    }

    #[test]
    fn every_kernel_of_the_list_is_a_layer_or_is_refused_by_name() {
        let refused = |kernel| order(&layer(kernel), 100).map_err(|refused| refused.to_string());
        for fact in facts() {
            match refused(fact.name) {
                Ok(order) => assert_eq!(order.kernel, fact.name),
                Err(text) => assert!(text.contains(&format!("{:?}", fact.name)), "{text}"),
            }
        }
        assert!(refused("ping-pong").unwrap_err().contains("\"ping-pong\""));
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

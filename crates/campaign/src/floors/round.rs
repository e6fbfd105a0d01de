//! One floor or layer as a batch, and what a sample of it is worth.

use bandgap_comm::{Delay, Floor, Yields};
use bandgap_kernels::{Comms1, Get, ISSUE, Kernel, Order, Pair, PingPong, Store, Stream, WHOLE};
use serde_json::Value;

/// Ranks between which floors are measured.
pub const RANKS: usize = 2;
/// Samples of one batch.
const SAMPLES: u32 = 20;

/// A batch of it. The order names the floor or layer, which is in no list of kernels.
pub(super) fn order(floor: &Floor) -> Order {
    Order {
        kernel: floor.name.to_string(),
        parameters: Value::Null,
        samples: SAMPLES,
        ranks: RANKS,
        checked: false,
        probed: false,
    }
}

/// The order of the kernel that a layer runs, for an order that names the layer; `None` for a floor.
pub fn kernel_order(floor: &Floor, named: &Order) -> Option<Order> {
    let (pair, messages, bytes) = (Pair::FIRST, floor.rounds, floor.bytes());
    let (samples, ranks, delay) = (named.samples, named.ranks, Delay::NONE);
    let order = match floor.kernel.as_deref()? {
        PingPong::NAME => Order::of(&PingPong { pair, messages }, samples, ranks),
        Stream::NAME => Order::of(&Stream { pair, messages }, samples, ranks),
        Comms1::NAME => Order::of(&Comms1 { pair, messages, bytes }, samples, ranks),
        Store::NAME => Order::of(&Store { pair, messages, bytes, delay }, samples, ranks),
        Get::NAME => Order::of(&Get { pair, messages, bytes, delay }, samples, ranks),
        _ => return None,
    };
    Some(Order { checked: named.checked, probed: named.probed, ..order })
}

/// Nanoseconds of one round, of half of it where it goes there and back, from those of a sample.
///
/// *Formula*: t / rounds, or t / (2 · rounds).
pub(super) fn per_round(floor: &Floor, ns: f64) -> f64 {
    let halves = match floor.yields {
        Yields::HalfRoundTrip | Yields::BytesEachWay(_) => 2.0,
        Yields::Operation | Yields::Bytes(_) => 1.0,
    };
    ns / (halves * f64::from(floor.rounds))
}

/// The column of samples that is its time. A transfer ends when it is complete, other kernels when
/// the last message is issued; a floor has one time.
pub(super) fn column(floor: &Floor) -> &'static str {
    match floor.kernel.as_deref() {
        None | Some(Store::NAME | Get::NAME) => WHOLE,
        Some(_) => ISSUE,
    }
}

#[cfg(test)]
mod tests {
    use bandgap_comm::Yields::{Bytes, BytesEachWay, HalfRoundTrip, Operation};
    use bandgap_kernels::fact;

    use super::*;

    #[test]
    fn a_layer_is_an_order_of_its_kernel_and_a_floor_is_none() {
        for kernel in [PingPong::NAME, Stream::NAME, Comms1::NAME, Store::NAME, Get::NAME] {
            let layer = Floor::layer("layer", "", Bytes(100), 3, &[], kernel);
            let named = Order { checked: true, ..order(&layer) };
            let order = kernel_order(&layer, &named).unwrap();
            assert_eq!((order.checked, order.samples), (true, named.samples));
            (fact(&order).unwrap().check)(&order, RANKS).unwrap();
        }
        let floor = Floor::new("floor", "", Operation, 1);
        assert_eq!(kernel_order(&floor, &order(&floor)), None);
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

//! A cache of replays in virtual time.
//!
//! A replay depends only on the machine and the order. A campaign visits each of its points in every
//! round, but needs to record and replay each only once.

use std::collections::HashMap;

use bandgap_campaign::runner::Executed;
use bandgap_kernels::Order;

/// Most numbers in the cache: 8 MiB.
const MOST_NUMBERS: usize = 1 << 20;

/// The size of a batch without samples, in numbers: its key, and its share of the tables.
const BESIDES: usize = 64;

/// The batches of a machine, as many as fit; none is evicted, because all recur in every round.
#[derive(Default)]
pub struct Replayed {
    batches: HashMap<String, Executed>,
    numbers: usize,
}

impl Replayed {
    /// The batch of an order, if cached.
    pub fn get(&self, order: &Order) -> Option<&Executed> {
        self.batches.get(&key(order))
    }

    /// Caches the batch of an order, if it fits.
    pub fn keep(&mut self, order: &Order, batch: &Executed) {
        let (key, size) = (key(order), size(batch));
        if self.numbers + size <= MOST_NUMBERS && !self.batches.contains_key(&key) {
            self.numbers += size;
            self.batches.insert(key, batch.clone());
        }
    }
}

/// What determines a batch in virtual time, where no message is checked and no placement is probed.
fn key(order: &Order) -> String {
    let Order { kernel, parameters, samples, ranks, .. } = order;
    format!("{kernel} {samples} {ranks} {parameters}")
}

fn size(batch: &Executed) -> usize {
    BESIDES + batch.samples.values().map(Vec::len).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use bandgap_kernels::facts;

    use crate::examples::examples;

    use super::*;

    fn batch(numbers: usize) -> Executed {
        Executed { samples: [("whole", vec![1.0; numbers])].into(), ..Executed::default() }
    }

    fn orders() -> Vec<Order> {
        facts().iter().flat_map(|fact| examples(fact, 4, 3)).collect()
    }

    #[test]
    fn an_order_is_known_by_all_that_decides_its_times() {
        let order = orders().remove(0);
        let mut replayed = Replayed::default();
        replayed.keep(&order, &batch(3));
        assert_eq!(replayed.get(&order.clone().probed().checked()), Some(&batch(3)));
        let others = [
            Order { samples: 4, ..order.clone() },
            Order { ranks: 5, ..order.clone() },
            Order { kernel: "other".into(), ..order.clone() },
            Order { parameters: serde_json::json!({"messages": 77}), ..order },
        ];
        assert!(others.iter().all(|other| replayed.get(other).is_none()));
    }

    #[test]
    fn what_there_is_no_room_for_is_not_kept() {
        let orders = orders();
        let mut replayed = Replayed::default();
        let third = MOST_NUMBERS / 3 - BESIDES;
        replayed.keep(&orders[0], &batch(MOST_NUMBERS));
        orders[1..5].iter().for_each(|order| replayed.keep(order, &batch(third)));
        // Keeping it again takes no further room.
        (0..9).for_each(|_| replayed.keep(&orders[1], &batch(third)));
        let kept = [0, 1, 2, 3, 4].map(|at| replayed.get(&orders[at]).is_some());
        assert_eq!(kept, [false, true, true, true, false]);
    }
}

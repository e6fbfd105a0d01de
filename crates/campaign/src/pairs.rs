//! Round trips and bandwidths between all pairs of ranks: the paper's table 3.

use bandgap_comm::Delay;
use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Asking, Buffers, Burst, Comms1, Order, Pair, WHOLE};
use serde::{Deserialize, Serialize};

use crate::campaign::campaign;
use crate::experiment::{Experiment, Point};
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::{Planned, Room};
use crate::runner::{Executed, Runner, Stop};

/// The name of the round trips of pairs.
pub const PAIR_RTT: &str = "pair_rtt";

/// The key of the round trip of one request between two ranks.
pub fn key(requester: usize, replier: usize) -> Key {
    Key::new(PAIR_RTT).at("requester", requester).at("replier", replier)
}

/// The name of the time of long messages there and back.
pub const PAIR_TIME: &str = "pair_time";
/// Samples of a batch of them: each is long.
const LONG: u32 = 2;

/// The key of a message of so many bytes there and back between two ranks.
pub fn long_key(requester: usize, replier: usize, bytes: usize) -> Key {
    Key::new(PAIR_TIME).at("requester", requester).at("replier", replier).at("bytes", bytes)
}

/// What the user asked for: the round trips of all pairs, and their bandwidths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairsPlan {
    /// How precisely, and in which time.
    pub asked: Asked,
    /// Samples of a batch.
    pub samples: u32,
    /// Bytes of the message whose time gives the bandwidth; none where bytes take no time.
    pub bytes: Option<usize>,
}

impl PairsPlan {
    /// The orders of one pair, with their keys.
    fn orders(&self, requester: usize, replier: usize, size: usize) -> Vec<(Key, Order)> {
        let pair = Pair { requester, replier };
        let asking = Asking::OneToOne(pair);
        let burst = Burst { asking, messages: 1, delay: Delay::NONE };
        let mut orders = vec![(key(requester, replier), Order::of(&burst, self.samples, size))];
        if let Some(bytes) = self.bytes {
            let echo = Comms1 { pair, messages: 1, bytes, buffers: Buffers::Same };
            orders.push((long_key(requester, replier, bytes), Order::of(&echo, LONG, size)));
        }
        orders
    }
}

impl Planned for PairsPlan {
    const NAME: &'static str = "pairs";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        campaign(runner, &mut { self }, &Plan::new(&self.asked))
    }

    fn room(&self, ranks: usize, tuning: &Tuning) -> Room {
        Room::passing(ranks, tuning, self.orders(0, 1, ranks).into_iter().map(|(_, order)| order))
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        Self { asked: asked.clone(), samples: 20, bytes: Some(1000) }
    }
}

impl Experiment for &PairsPlan {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let size = runner.size();
        let pairs = (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b)));
        let orders = pairs.flat_map(|(a, b)| self.orders(a, b, size));
        Ok(orders.map(|(key, order)| Point::new(key, order)).collect())
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        vec![(point.key.clone(), done.column(WHOLE).to_vec())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scripted::Scripted;

    #[test]
    fn each_pair_is_asked_once_by_its_lower_rank() {
        let mut runner = Scripted::steady(1.0);
        runner.size = 4;
        let points = (&PairsPlan { asked: Asked::usual(1.0), samples: 50, bytes: None })
            .points(&mut runner)
            .unwrap();
        let pairs: Vec<(u64, u64)> = points
            .iter()
            .map(|point| {
                let kernel: Burst = point.order.kernel(4).unwrap();
                let Asking::OneToOne(Pair { requester, replier }) = kernel.asking else {
                    panic!("one asks one: {kernel:?}")
                };
                assert_eq!((kernel.messages, point.order.samples), (1, 50));
                assert_eq!(point.key, key(requester, replier));
                (requester as u64, replier as u64)
            })
            .collect();
        assert_eq!(pairs, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    }
}

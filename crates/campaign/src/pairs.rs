//! The experiment of pairs: round trips and bandwidths between all pairs of ranks (table 3 of the
//! paper).

use bandgap_comm::Delay;
use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Asking, Buffers, Burst, Comms1, Order, Pair, RoundRobin, WHOLE};
use serde::{Deserialize, Serialize};

use crate::campaign::campaign;
use crate::experiment::{Experiment, Point};
use crate::judge::Judged;
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::{Planned, Room};
use crate::runner::{Executed, Runner, Stop};
use crate::series::Step;

/// The name of round trips of pairs in keys.
pub const PAIR_RTT: &str = "pair_rtt";

/// The key of the round trip of one request between two ranks.
pub fn key(requester: usize, replier: usize) -> Key {
    Key::new(PAIR_RTT).at("requester", requester).at("replier", replier)
}

/// The name of the times of long messages there and back in keys.
pub const PAIR_TIME: &str = "pair_time";
/// Samples per batch of long messages.
const LONG: u32 = 2;

/// The key of a message of this length there and back between two ranks.
pub fn long_key(requester: usize, replier: usize, bytes: usize) -> Key {
    Key::new(PAIR_TIME).at("requester", requester).at("replier", replier).at("bytes", bytes)
}

/// Bytes of the message whose round trip is measured if all pairs of a round work at once.
const SHORT: usize = 8;
/// The axis for the number of pairs that work at once.
pub const AT_ONCE: &str = "at_once";

/// The pairs that the user asked for: round trips and bandwidths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairsPlan {
    /// Precision and time.
    pub asked: Asked,
    /// Samples of a batch.
    pub samples: u32,
    /// Bytes of the message whose time gives the bandwidth; `None` if bytes take no time.
    pub bytes: Option<usize>,
    /// Whether all ranks work at once in pairs, in a round robin; else one pair works after the
    /// other.
    #[serde(default)]
    pub at_once: bool,
}

impl PairsPlan {
    /// All orders for this number of ranks, with the keys of their points.
    fn all(&self, size: usize) -> Vec<(Key, Order)> {
        if self.at_once {
            return (0..RoundRobin::rounds(size)).flat_map(|of| self.round(of, size)).collect();
        }
        let pairs = (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b)));
        pairs.flat_map(|(a, b)| self.orders(a, b, size)).collect()
    }

    /// The orders of one round of all ranks, with the key of its first pair.
    fn round(&self, round: usize, size: usize) -> Vec<(Key, Order)> {
        let lengths = [(Some(SHORT), self.samples), (self.bytes, 1)];
        let orders = lengths.into_iter().filter_map(|(bytes, samples)| {
            let of = RoundRobin { round, messages: 1, bytes: bytes? };
            let order = Order::of(&of, samples, size);
            Some((keys(&order).into_iter().next()?, order))
        });
        orders.collect()
    }

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

/// Keys of the pairs in a round, as sampled; empty unless `order` is a round robin.
fn keys(order: &Order) -> Vec<Key> {
    let Ok(of) = order.kernel::<RoundRobin>(order.ranks) else { return Vec::new() };
    let key = |Pair { requester, replier }| match of.bytes {
        SHORT => key(requester, replier),
        bytes => long_key(requester, replier, bytes),
    };
    of.pairs(order.ranks).map(|pair| key(pair).at(AT_ONCE, order.ranks / 2)).collect()
}

impl Experiment for &PairsPlan {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let all = self.all(runner.size()).into_iter();
        Ok(all.map(|(key, order)| Point::new(key, order)).collect())
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let (samples, keys) = (done.column(WHOLE), keys(&point.order));
        if keys.is_empty() {
            return vec![(point.key.clone(), samples.to_vec())];
        }
        let each = samples.chunks(samples.len().div_ceil(keys.len()).max(1)).map(<[f64]>::to_vec);
        keys.into_iter().zip(each).collect()
    }

    /// A round is open while any of its pairs is.
    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        let is_enough = |key: &Key| judged.convergence(key).is_enough();
        let is_open = |at: &usize| {
            let Point { key, order, .. } = &points[*at];
            !is_enough(key) || !keys(order).iter().all(is_enough)
        };
        (0..points.len()).filter(is_open).collect()
    }
}

impl Planned for PairsPlan {
    const NAME: &'static str = "pairs";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        campaign(runner, &mut { self }, &Plan::new(&self.asked))
    }

    fn room(&self, ranks: usize, tuning: &Tuning) -> Room {
        let orders = self.orders(0, 1, ranks).into_iter().chain(self.round(0, ranks));
        Room::passing(ranks, tuning, orders.map(|(_, order)| order))
    }

    fn in_virtual_time(self, _by: &dyn Fn(Step) -> Option<Step>) -> Option<Self> {
        Some(Self { asked: self.asked.in_virtual_time(), ..self })
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        Self { asked: asked.clone(), samples: 20, bytes: Some(1000), at_once: false }
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
        let plan = PairsPlan { samples: 50, bytes: None, ..PairsPlan::short(&Asked::usual(1.0)) };
        let points = (&plan).points(&mut runner).unwrap();
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

    #[test]
    fn in_rounds_all_ranks_work_and_each_pair_has_its_own_samples() {
        let mut runner = Scripted::steady(1.0);
        runner.size = 5;
        let plan = PairsPlan { at_once: true, ..PairsPlan::short(&Asked::usual(1.0)) };
        let points = (&plan).points(&mut runner).unwrap();
        // One rests in each of five rounds, of short and of long messages.
        assert_eq!(points.len(), 2 * 5);
        let samples = [(WHOLE, vec![1.0, 2.0, 3.0, 4.0])];
        let done = Executed { samples: samples.into(), ..Executed::default() };
        let mut met = std::collections::BTreeSet::new();
        for point in points {
            let split = (&plan).split(&point, &done);
            let times: Vec<&[f64]> = split.iter().map(|(_, times)| &times[..]).collect();
            assert_eq!((times, &split[0].0), (vec![&[1.0, 2.0][..], &[3.0, 4.0]], &point.key));
            met.extend(split.into_iter().map(|(key, _)| key));
        }
        assert_eq!(met.len(), 2 * 10);
    }
}

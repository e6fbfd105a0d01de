//! Round trips between all pairs of ranks: the paper's table 3.

use bandgap_comm::Delay;
use bandgap_kernels::{Asking, Burst, Order, Pair, WHOLE};
use serde::{Deserialize, Serialize};

use crate::campaign::campaign;
use crate::experiment::{Experiment, Point};
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::Planned;
use crate::runner::{Executed, Runner, Stop};

/// The name of the round trips of pairs.
pub const PAIR_RTT: &str = "pair_rtt";

/// The key of the round trip of one request between two ranks.
pub fn key(requester: usize, replier: usize) -> Key {
    Key::new(PAIR_RTT).at("requester", requester).at("replier", replier)
}

/// What the user asked for: the round trips of all pairs, and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairsPlan {
    /// How precisely, and in which time.
    pub asked: Asked,
    /// Samples of a batch.
    pub samples: u32,
}

impl Planned for PairsPlan {
    const NAME: &'static str = "pairs";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        campaign(runner, &mut { self }, &Plan::new(&self.asked))
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        Self { asked: asked.clone(), samples: 20 }
    }
}

impl Experiment for &PairsPlan {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let size = runner.size();
        let pairs = (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b)));
        let point = |(requester, replier)| {
            let asking = Asking::OneToOne(Pair { requester, replier });
            let kernel = Burst { asking, messages: 1, delay: Delay::NONE };
            Point::new(key(requester, replier), Order::of(&kernel, self.samples, size))
        };
        Ok(pairs.map(point).collect())
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
        let points =
            (&PairsPlan { asked: Asked::usual(1.0), samples: 50 }).points(&mut runner).unwrap();
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

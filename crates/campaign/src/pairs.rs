//! The experiment of pairs: round trips and bandwidths between all pairs of ranks (table 3 of the
//! paper).

mod slow;

use std::collections::BTreeMap;
use std::time::Duration;

use bandgap_comm::Delay;
use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Asking, Buffers, Burst, Comms1, Order, Pair, RoundRobin, WHOLE};
use serde::{Deserialize, Serialize};

pub use self::slow::{Seen, Tolerance};
use crate::campaign::campaign;
use crate::data::Measurements;
use crate::experiment::{Experiment, Point};
use crate::judge::{Judged, pair_of};
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
/// The axis for hops between the ranks of a simulated machine.
pub const HOPS: &str = "hops";

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
    /// Pairs outside it are repeated, if they worked at once. `None`: nothing is repeated.
    #[serde(default)]
    pub tolerance: Option<Tolerance>,
    /// The host of each rank, if there are several. Pairs within a host are not repeated.
    #[serde(default)]
    pub hosts: Vec<String>,
}

/// Batches a round of long messages that are repeated: each has one sample.
const VISITS: u32 = 4;
/// Batches after which a pair that is outside the tolerance in all of them is so.
const CONFIRMED: usize = 30;

/// Batches, each with the keys of its pairs, as sampled, by the first of them.
type All = BTreeMap<Key, (Vec<Key>, Order)>;

/// What is measured in a row; where something was seen before, until each pair is inside the
/// tolerance.
struct Level<'a> {
    plan: &'a PairsPlan,
    all: All,
    /// What earlier levels of the launch saw. Where all pairs are slow, it has those that are not.
    before: Vec<Seen>,
}

/// Whether a pair is outside in what a key stands for.
fn is_one(outside: &[&Seen], key: &Key) -> bool {
    outside.iter().any(|of| of.what == key.what() && Some(of.pair) == pair_of(key))
}

impl PairsPlan {
    /// All orders.
    fn all(&self, runner: &dyn Runner) -> All {
        if self.at_once {
            return self.rounds(runner, 1, |_| true);
        }
        let (size, mut all) = (runner.size(), All::new());
        for (requester, replier) in (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b))) {
            let pair = Pair { requester, replier };
            for (bytes, samples) in self.lengths(LONG) {
                let (asking, delay) = (Asking::OneToOne(pair), Delay::NONE);
                let echo = Comms1 { pair, messages: 1, bytes, buffers: Buffers::Same };
                let order = match bytes {
                    SHORT => Order::of(&Burst { asking, messages: 1, delay }, samples, size),
                    _ => Order::of(&echo, samples, size),
                };
                let keys = vec![named(runner, pair, bytes)];
                all.insert(keys[0].clone(), (keys, order));
            }
        }
        all
    }

    /// The rounds of all ranks, each in so many parts: those with a pair that is wanted.
    fn rounds(&self, runner: &dyn Runner, parts: usize, wanted: impl Fn(&Key) -> bool) -> All {
        let (size, mut all) = (runner.size(), All::new());
        for at in 0..RoundRobin::rounds(size) * parts {
            let (round, part) = (at / parts, [at % parts, parts]);
            for (bytes, samples) in self.lengths(1) {
                let of = RoundRobin { round, messages: 1, bytes, part };
                let at_once = (size / 2).div_ceil(parts);
                let key = |pair| named(runner, pair, bytes).at(AT_ONCE, at_once);
                let keys: Vec<Key> = of.pairs(size).map(key).collect();
                if keys.iter().any(&wanted) {
                    all.insert(keys[0].clone(), (keys, Order::of(&of, samples, size)));
                }
            }
        }
        all
    }

    /// The lengths of messages in rounds, and their samples.
    fn lengths(&self, long: u32) -> impl Iterator<Item = (usize, u32)> {
        [Some((SHORT, self.samples)), self.bytes.map(|bytes| (bytes, long))].into_iter().flatten()
    }
}

/// The key of a pair's messages of this length.
fn named(runner: &dyn Runner, Pair { requester, replier }: Pair, bytes: usize) -> Key {
    let key = match bytes {
        SHORT => key(requester, replier),
        bytes => long_key(requester, replier, bytes),
    };
    let hops = runner.hops([requester, replier]);
    hops.into_iter().fold(key, |key, hops| key.at(HOPS, hops))
}

impl Experiment for Level<'_> {
    fn points(&mut self, _: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let point = |(key, (_, order)): (&Key, &(_, Order))| {
            let visits =
                if !self.before.is_empty() && key.what() == PAIR_TIME { VISITS } else { 1 };
            Point { visits, ..Point::new(key.clone(), order.clone()) }
        };
        Ok(self.all.iter().map(point).collect())
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let (samples, (keys, _)) = (done.column(WHOLE), &self.all[&point.key]);
        let each = samples.chunks(samples.len().div_ceil(keys.len()).max(1)).map(<[f64]>::to_vec);
        keys.iter().cloned().zip(each).collect()
    }

    /// A round is open while any of its pairs is.
    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        let seen = [&self.before[..], &Seen::all(judged, &self.plan.hosts)].concat();
        let again = self.plan.tolerance.filter(|_| !self.before.is_empty());
        let outside = again.map(|tolerance| tolerance.outside(&seen));
        let is_done = |key: &Key| match &outside {
            Some(all) => !is_one(all, key) || judged.table.batches(key).len() >= CONFIRMED,
            None => judged.convergence(key).is_enough(),
        };
        let is_open = |at: &usize| !self.all[&points[*at].key].0.iter().all(is_done);
        (0..points.len()).filter(is_open).collect()
    }
}

impl Planned for PairsPlan {
    const NAME: &'static str = "pairs";

    /// Measures all pairs. Then those outside the tolerance are repeated with half as many at once, and
    /// those that still are with half of that, until each was alone.
    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        let (pairs, ends) = (runner.size() / 2, runner.ends());
        let (mut all, mut parts, mut table) = (self.all(runner), 1, Measurements::default());
        let mut seen = Vec::new();
        while !all.is_empty() {
            let again = self.tolerance.filter(|_| self.at_once && parts < pairs);
            let now = runner.elapsed();
            // Half of the time is kept for what is repeated.
            let half = |end: Duration| now + end.saturating_sub(now) / 2;
            runner.limit(if again.is_some() { ends.map(half) } else { ends });
            // Between hosts the first batch is one of many, and to warm up a bad link would take the
            // time of all.
            let (floors, warm) = (parts == 1, self.tolerance.is_none());
            let plan = Plan { floors, warm, ..Plan::new(&self.asked) };
            let mut level = Level { plan: self, all, before: seen };
            table.append(campaign(runner, &mut level, &plan)?);
            let Some(tolerance) = again else { break };
            seen = Seen::all(&self.asked.judge(&table), &self.hosts);
            let outside = tolerance.outside(&seen);
            parts = (2 * parts).min(pairs);
            all = self.rounds(runner, parts, |key| is_one(&outside, key));
        }
        Ok(())
    }

    fn room(&self, ranks: usize, tuning: &Tuning) -> Room {
        let orders = self.lengths(LONG).map(|(bytes, samples)| {
            let of = RoundRobin { round: 0, messages: 1, bytes, part: RoundRobin::ALL };
            Order::of(&of, samples, ranks)
        });
        Room::passing(ranks, tuning, orders)
    }

    fn in_virtual_time(self, _by: &dyn Fn(Step) -> Option<Step>) -> Option<Self> {
        Some(Self { asked: self.asked.in_virtual_time(), ..self })
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        let (tolerance, hosts) = (None, Vec::new());
        let (samples, bytes, at_once) = (20, Some(1000), false);
        Self { asked: asked.clone(), samples, bytes, at_once, tolerance, hosts }
    }
}

#[cfg(test)]
mod tests;

//! The kernel's path of a message: round trips while the kernel traces the ranks, and as many while it does not.
//!
//! They are measured apart from everything else, since what is traced takes longer.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use bandgap_kernels::{Order, Pair, PingPong, WHOLE};
use serde::{Deserialize, Serialize};

use crate::campaign::campaign;
use crate::experiment::{Experiment, Point};
use crate::judge::{Judged, batch_value, round};
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::Planned;
use crate::runner::{Executed, Runner, Stop};

/// Round trips of a batch.
pub const ROUND_TRIPS: u32 = 50;
/// Rounds: few, since it is an illustration, and as many as the interval of a median needs.
const ROUNDS: RangeInclusive<u32> = 8..=8;

/// The name of half a round trip among keys.
pub const KERNEL_PATH: &str = "kernel_path";

/// The key of half a round trip while the kernel traces it, or does not.
pub fn key(traced: bool) -> Key {
    Key::new(KERNEL_PATH).at("events", if traced { "on" } else { "off" })
}

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelPathPlan {
    /// How precisely, and in which time.
    pub asked: Asked,
}

impl KernelPathPlan {
    /// What was measured, seen with this plan's precision. A time is that of many messages over their number, so a stamp's
    /// cost is small beside it.
    pub fn judge<'a>(&self, table: &'a crate::Table) -> Judged<'a> {
        self.asked.unstamped().judge(table)
    }
}

impl Planned for KernelPathPlan {
    const NAME: &'static str = "kernel_path";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        campaign(runner, &mut Traced, &Plan::new(&self.asked.unstamped()))
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        Self { asked: asked.clone() }
    }
}

/// The experiment.
struct Traced;

impl Experiment for Traced {
    fn points(&mut self, _: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let pair = Pair { requester: 0, replier: 1 };
        let point = |traced| {
            let order = Order::of(&PingPong { pair, messages: ROUND_TRIPS }, 1, 2);
            Point::new(key(traced), Order { traced, ..order })
        };
        Ok([false, true].map(point).to_vec())
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let half = |ns: &f64| ns / f64::from(2 * ROUND_TRIPS);
        vec![(point.key.clone(), done.column(WHOLE).iter().map(half).collect())]
    }

    fn rounds(&self) -> RangeInclusive<u32> {
        ROUNDS
    }
}

/// Half a round trip without and with the kernel's events, of each round that has both, in nanoseconds. In whatever placement
/// state: the two are neighbours in time, and of an illustration nothing more is asked.
pub fn rounds(table: &crate::Table) -> Vec<[f64; 2]> {
    let of = |traced| -> BTreeMap<u64, f64> {
        let batches = table.batches(&key(traced)).iter();
        let counted = batches.filter(|batch| batch.rejected.is_none() && !batch.samples.is_empty());
        counted.map(|batch| (round(batch), batch_value(&batch.samples))).collect()
    };
    let (without, with) = (of(false), of(true));
    without.iter().filter_map(|(round, without)| Some([*without, *with.get(round)?])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{Scripted, taking};

    #[test]
    fn each_round_has_a_batch_with_the_events_and_one_without() {
        let mut runner = Scripted::new(|order| {
            let half = if order.traced { 150.0 } else { 100.0 };
            Ok(taking(order, half * f64::from(2 * ROUND_TRIPS)))
        });
        let asked = Asked::usual(100.0);
        KernelPathPlan { asked }.lead(&mut runner).unwrap();
        assert_eq!(rounds(&runner.kept), vec![[100.0, 150.0]; 8]);
        // No batch of a key is another key's.
        let traced = |order: &&Order| order.traced;
        assert_eq!(runner.timed().filter(traced).count(), 8);
        assert_eq!(runner.timed().count(), 16);
        // A round that lacks one of them does not count.
        let part = runner.kept.part(|key| key.text("events") == Some("on"));
        assert_eq!(rounds(&part), Vec::<[f64; 2]>::new());
    }
}

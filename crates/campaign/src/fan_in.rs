//! The experiment of fan-in: K requesters and one replier, for K = 1 up to the number asked for
//! (table 5 of the paper).

use bandgap_comm::Delay;
use bandgap_kernels::{FanIn, ISSUE, Order};
use serde::{Deserialize, Serialize};

use crate::campaign::campaign;
use crate::experiment::{Experiment, Point};
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::Planned;
use crate::runner::{Executed, Runner, Stop};
use crate::series::Step;

/// Samples per batch. Each is a stretch of a steady stream.
const SAMPLES: u32 = 16;

/// The name of gaps under contention in keys.
pub const CONTENDED: &str = "contended";

/// The key of a replier's time per message and requester, with this many requesters.
pub fn key(requesters: usize) -> Key {
    Key::new(CONTENDED).at("requesters", requesters)
}

/// The fan-in that the user asked for: the gap that each of K requesters sees, for K = 1, 2, ….
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FanInPlan {
    /// Precision and time.
    pub asked: Asked,
    /// Largest number of requesters.
    pub requesters: usize,
}

/// The replier times. A sample is the time in which it serves `messages` requests of each
/// requester, so the gap is that time over `messages`, in whatever order the requests arrive.
/// The gaps of 1 to `most` requesters.
struct Gaps {
    most: usize,
    messages: u32,
}

impl Experiment for Gaps {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        self.messages = 4 * runner.capacity().clamp(16, 1 << 10) as u32;
        let point = |requesters| {
            let kernel = FanIn { requesters, messages: self.messages, delay: Delay::NONE };
            Point::new(key(requesters), Order::of(&kernel, SAMPLES, runner.size()))
        };
        Ok((1..=self.most).map(point).collect())
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let gap = |time: &f64| time / f64::from(self.messages);
        vec![(point.key.clone(), done.column(ISSUE).iter().map(gap).collect())]
    }
}

impl Planned for FanInPlan {
    const NAME: &'static str = "fan_in";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        let mut gaps = Gaps { most: self.requesters, messages: 0 };
        campaign(runner, &mut gaps, &Plan::new(&self.asked.unstamped())).map(drop)
    }

    fn in_virtual_time(self, _by: &dyn Fn(Step) -> Option<Step>) -> Option<Self> {
        Some(Self { asked: self.asked.in_virtual_time(), ..self })
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        Self { asked: asked.clone(), requesters: 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scripted::{Scripted, taking};

    #[test]
    fn the_gap_is_the_time_of_one_requester_s_message() {
        let asked = Asked { stamp: 50.0, ..Asked::usual(1e9) };
        let plan = FanInPlan { asked, requesters: 3 };
        let mut runner = Scripted::new(|order| {
            let kernel: FanIn = order.kernel(4).unwrap();
            // Each of K requesters' messages takes 10 · K ns.
            Ok(taking(order, 10.0 * kernel.requesters as f64 * f64::from(kernel.messages)))
        });
        runner.size = 4;
        plan.lead(&mut runner).unwrap();
        let judged = plan.asked.unstamped().judge(&runner.kept);
        let gaps: Vec<f64> = (1..=3).map(|k| judged.point(&key(k)).unwrap().value).collect();
        assert_eq!(gaps, [10.0, 20.0, 30.0]);
        // Four times the capacity, which is 16 at least.
        let kernel: FanIn = runner.timed().next().unwrap().kernel(4).unwrap();
        assert_eq!((kernel.messages, kernel.delay), (64, Delay::NONE));
    }
}

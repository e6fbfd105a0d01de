//! The LogP signature: the time to issue M requests with a delay Δ after each, over M and Δ.
//!
//! A first look finds the round trip, the gap and how many messages it takes to see it; from these
//! the grid is chosen. It ends when every point and every parameter has the precision asked for.

mod keys;
mod look;
mod observed;
mod plan;

use std::ops::Range;

use bandgap_comm::Delay;

use crate::campaign::campaign;
use crate::control::Control;
use crate::experiment::{Experiment, Point, not_converged};
use crate::grid::{choose, round_time};
use crate::judge::Judged;
use crate::key::Key;
use crate::load::{LEAST_SAMPLES, Load};
use crate::plan::Plan;
use crate::runner::{Executed, Runner, Stop};

use look::Batches;

pub use keys::{ISSUE, RTT, issue, of_load, rtt};
pub use observed::{QUICK_RESAMPLES, Verdicts, judge, judge_received};
pub use plan::{SignaturePattern, SignaturePlan};

/// Points whose batch takes less than this, in nanoseconds, are visited several times in a round:
/// round trips and short bursts are where the overheads come from, and cost least.
const CHEAP: f64 = 4e5;
/// Visits of the round trip in a round.
const RTT_VISITS: u32 = 4;

impl SignaturePlan {
    /// Measures the signature as this part of the whole measurement's progress.
    ///
    /// # Errors
    /// As [`campaign`].
    pub fn measure(&self, runner: &mut dyn Runner, progress: Range<f64>) -> Result<(), Stop> {
        let title = match self.load {
            Load::Words => String::new(),
            load => load.to_string(),
        };
        // Of transfers the series has the floors.
        let floors = !self.load.is_transfer();
        let plan = Plan { progress, title, floors, ..Plan::new(&self.asked) };
        campaign(runner, &mut Signature { plan: self }, &plan)
    }
}

/// The experiment of one signature.
struct Signature<'a> {
    plan: &'a SignaturePlan,
}

impl Experiment for Signature<'_> {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let (load, batches) = (self.plan.load, Batches::new(self.plan, runner));
        let look = batches.look(runner)?;
        let mut limits = batches.limits();
        let mut curves = choose(&look, limits, |messages| batches.samples(messages));
        let round = round_time(&look, &curves, |messages| batches.samples(messages));
        let slow = round > limits.budget;
        let samples = |messages| match (batches.samples(messages), slow) {
            (usual, false) => usual,
            (usual, true) => usual.min(LEAST_SAMPLES),
        };
        if slow {
            limits = load.coarse_limits(limits.budget);
            curves = choose(&look, limits, samples);
        }
        let round_trip = batches.order(1, Delay::NONE, samples(1));
        let mut points = vec![Point { visits: RTT_VISITS, ..Point::new(rtt(load), round_trip) }];
        let mut delays = Vec::new();
        for curve in curves {
            let delay = if curve.delay > 0.0 { runner.delay(curve.delay) } else { Delay::NONE };
            // Several delays shorter than the shortest that the processor can make are one.
            if delays.contains(&delay) {
                continue;
            }
            delays.push(delay);
            for &messages in &curve.messages {
                let samples = samples(messages);
                let time = look.sample_time(messages, curve.delay) * f64::from(samples);
                let key = issue(load, messages, delay.picoseconds);
                points.push(Point {
                    visits: (CHEAP / time).clamp(1.0, limits.visits) as u32,
                    control: Control::of(delay, messages),
                    ..Point::new(key, batches.order(messages, delay, samples))
                });
            }
        }
        Ok(points)
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let column = match point.key.what() {
            RTT => bandgap_kernels::WHOLE,
            _ => bandgap_kernels::ISSUE,
        };
        vec![(point.key.clone(), done.column(column).to_vec())]
    }

    /// All points, while one or a parameter is not known well enough: in rounds of few points the drift of
    /// one would be that of the next.
    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        let enough = not_converged(judged, points).is_empty()
            && judged.parameters_are_enough(self.plan.load);
        if enough { Vec::new() } else { (0..points.len()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bandgap_model::logp::Params;

    use super::*;
    use crate::plan::Asked;
    use crate::scripted::{Scripted, modelled};

    /// A signature within two seconds, on a machine on which everything takes so many times as long as on the paper's
    /// Myrinet.
    fn measured(times: f64) -> Scripted {
        let fast = Params::MYRINET;
        let slow = Params {
            send_overhead: times * fast.send_overhead,
            recv_overhead: times * fast.recv_overhead,
            gap: times * fast.gap,
            latency: times * fast.latency,
            ..fast
        };
        let mut runner = Scripted::new(move |order| Ok(modelled(order, &slow)));
        runner.timed = true;
        let plan = SignaturePlan::short(&Asked::usual(2.0), Load::Words);
        plan.measure(&mut runner, 0.0..1.0).unwrap();
        runner
    }

    #[test]
    fn a_round_that_takes_longer_than_there_is_time_has_fewer_points_and_samples() {
        let (usual, slow) = (measured(1.0), measured(100.0));
        let delays = |runner: &Scripted| {
            let mut delays: Vec<String> =
                runner.timed().map(|order| order.parameters["delay"].to_string()).collect();
            delays.sort();
            delays.dedup();
            delays.len()
        };
        let samples = |runner: &Scripted| runner.timed().map(|order| order.samples).max();
        assert_eq!((samples(&usual), samples(&slow)), (Some(50), Some(LEAST_SAMPLES)));
        assert!(delays(&slow) < delays(&usual), "{} {}", delays(&slow), delays(&usual));
        assert!(slow.kept.batches(&rtt(Load::Words)).len() > 1);
        assert!(slow.elapsed() < Duration::from_secs(8), "{:?}", slow.elapsed());
    }
}

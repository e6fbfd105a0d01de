//! The experiment of the LogP signature: the time to issue M requests with a delay Δ after each,
//! over M and Δ.
//!
//! A first look finds the round trip, the gap, and the number of messages that shows the gap. From
//! these the grid is chosen. The measurement ends when every point and every parameter has the
//! precision asked for.

mod keys;
mod look;
mod observed;
mod plan;
mod visits;

use std::ops::Range;

use bandgap_comm::Delay;

use crate::budget::Budget;
use crate::campaign::campaign;
use crate::control::Control;
use crate::data::{Kept, Scarce};
use crate::experiment::{Experiment, Point, not_converged};
use crate::grid::{Curve, FirstLook, Limits, SHORT, choose, round_time, short};
use crate::judge::Judged;
use crate::key::Key;
use crate::load::{LEAST_SAMPLES, Load};
use crate::plan::Plan;
use crate::runner::{Executed, Runner, Stop};

use bandgap_model::signature::Share;
use look::Batches;
use visits::Need;

pub use keys::{ISSUE, RTT, issue, of_load, rtt};
pub use observed::{QUICK_RESAMPLES, judge, judge_received, verdicts};
pub use plan::{SignaturePattern, SignaturePlan, Spot};

/// Points whose batch takes less than this, in nanoseconds, have several batches per round: round
/// trips and short bursts determine the overheads, and cost least.
const CHEAP: f64 = 4e5;
/// Batches of the round trip per round.
const RTT_VISITS: u32 = 4;
/// Smallest number of batches of a point, counting two of the warm-up, a checked one, and two
/// rounds.
const BATCHES: f64 = 5.0;
/// Rounds for which there must be time. Where there is less, the grid has few points, and its long batches few samples.
const ROUNDS: f64 = 16.0;
/// Longest time of a batch then, in nanoseconds, if it has more than [`FEW_SAMPLES`].
const LONGEST: f64 = 4e6;
/// Smallest number of samples in a batch then.
const FEW_SAMPLES: u32 = 8;

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
        // Floors of transfers are measured with the series.
        let floors = !self.load.is_transfer();
        let plan = Plan { progress, title, floors, ..Plan::new(&self.asked) };
        campaign(runner, &mut Signature { plan: self, times: Vec::new() }, &plan).map(drop)
    }
}

/// The experiment of one signature.
struct Signature<'a> {
    plan: &'a SignaturePlan,
    /// Approximate time of a batch of each point, in nanoseconds.
    times: Vec<f64>,
}

impl Signature<'_> {
    /// The points that fit this machine and the time.
    fn choose(
        &self,
        batches: &Batches<'_>,
        budget: &Budget,
        runner: &mut dyn Runner,
    ) -> Result<Vec<Spot>, Stop> {
        let load = self.plan.load;
        let look = batches.look(budget, runner)?;
        let mut limits = batches.limits(budget);
        let usual = |messages, _| batches.samples(messages);
        let few = |messages, delay| {
            let enough = LONGEST / look.sample_time(messages, delay);
            batches.samples(messages).min((enough as u32).max(FEW_SAMPLES))
        };
        let least = |messages, _| batches.samples(messages).min(LEAST_SAMPLES);
        let mut samples: &dyn Fn(u32, f64) -> u32 = &usual;
        let mut curves = choose(&look, limits, samples);
        let count =
            |curves: &[Curve]| curves.iter().map(|curve| curve.messages.len()).sum::<usize>();
        let taken = |time| (time + look.around.max(AROUND)) * visits(time, &limits);
        if ROUNDS * round_time(&look, &curves, samples, taken) > limits.budget {
            samples = &few;
            curves = match load.is_transfer() {
                true => choose(&look, limits, samples),
                false => short(&look, limits),
            };
        }
        let round = round_time(&look, &curves, samples, |time| time);
        let whole = count(&curves);
        let around = BATCHES * whole as f64 * look.around * 1e-9;
        if round > limits.budget || 2.0 * round + around > budget.left(runner) {
            (limits.mesh, samples) = (SHORT, &least);
            curves = match load.is_transfer() {
                true => choose(&look, limits, samples),
                false => short(&FirstLook { messages: limits.least, ..look }, limits),
            };
            let share = count(&curves) as f64 / whole as f64;
            if share < 1.0 {
                runner.keep(Kept::Cut { what: Scarce::Points, share })?;
            }
        }
        let mut spots = Vec::<Spot>::new();
        let mut delays = Vec::new();
        for curve in curves {
            let delay_ps = delay(curve.delay, runner).picoseconds;
            // Delays shorter than the shortest possible one are equal.
            if delays.contains(&delay_ps) {
                continue;
            }
            delays.push(delay_ps);
            spots.extend(curve.messages.iter().map(|&messages| {
                let samples = samples(messages, curve.delay);
                let time = look.sample_time(messages, curve.delay) * f64::from(samples);
                Spot { messages, delay_ps, samples, time }
            }));
        }
        Ok(spots)
    }
}

/// Δ for this time in nanoseconds.
fn delay(ns: f64, runner: &dyn Runner) -> Delay {
    if ns > 0.0 { runner.delay(ns) } else { Delay::NONE }
}

impl Experiment for Signature<'_> {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let (load, batches) = (self.plan.load, Batches::new(self.plan, runner));
        let budget = Budget::from_now(runner, self.plan.asked.budget);
        let spots = match &self.plan.spots[..] {
            [] => self.choose(&batches, &budget, runner)?,
            known => {
                batches.warm(&budget, runner)?;
                known.to_vec()
            }
        };
        let limits = batches.limits(&budget);
        let round_trip = batches.order(1, Delay::NONE, spots[0].samples);
        let mut points = vec![Point { visits: RTT_VISITS, ..Point::new(rtt(load), round_trip) }];
        self.times = vec![spots[0].time];
        for Spot { messages, delay_ps, samples, time } in spots {
            let delay = delay(delay_ps as f64 / 1e3, runner);
            let key = issue(load, messages, delay_ps);
            self.times.push(time);
            // With so few samples there is no time for several batches.
            let visits = if samples == LEAST_SAMPLES { 1.0 } else { visits(time, &limits) };
            points.push(Point {
                visits: visits as u32,
                control: Control::of(delay, messages),
                ..Point::new(key, batches.order(messages, delay, samples))
            });
        }
        Ok(points)
    }

    fn plans_early(&self) -> bool {
        !self.plan.load.is_transfer()
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let column = match point.key.what() {
            RTT => bandgap_kernels::WHOLE,
            _ => bandgap_kernels::ISSUE,
        };
        vec![(point.key.clone(), done.column(column).to_vec())]
    }

    /// All points, while any point or parameter is not known well enough: in rounds of few points,
    /// all would share the same drift. Points that narrow a parameter most have the most batches.
    fn visits(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<(usize, f64)> {
        let usual = points.iter().map(|point| f64::from(point.visits)).enumerate();
        let found = judged.signature(QUICK_RESAMPLES, None);
        let Ok(signature) = found else { return usual.collect() };
        let wanted = visits::wanted(&signature, &judged.rule(), self.plan.load);
        if wanted.iter().all(|weight| *weight == 0.0) {
            let is_enough = not_converged(judged, points).is_empty();
            return if is_enough { Vec::new() } else { usual.collect() };
        }
        let share = |point: &Point| {
            let (kind, messages, delay) = judged.observed(&point.key)?;
            let is_it = |of: &&Share| (of.kind, of.messages, of.delay) == (kind, messages, delay);
            signature.shares.iter().find(is_it)
        };
        let needs = points.iter().zip(&self.times).map(|(point, time)| {
            let share = share(point);
            let variance = share.map(|of| {
                let parts = of.variances(signature.regime);
                let parts = parts.iter().zip(&wanted).map(|(part, weight)| part * weight);
                of.batches as f64 * parts.sum::<f64>()
            });
            Need { usual: f64::from(point.visits), time: time + AROUND, variance }
        });
        visits::visits(&needs.collect::<Vec<_>>()).into_iter().enumerate().collect()
    }
}

/// Batches of a point in a round, whose samples take this time, in nanoseconds.
fn visits(time: f64, limits: &Limits) -> f64 {
    (CHEAP / time).clamp(1.0, limits.visits)
}

/// Approximate time per batch outside of its samples, in nanoseconds: probes, and Δ alone.
const AROUND: f64 = 5e5;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::machine::Params;

    use super::*;
    use crate::plan::Asked;
    use crate::tests::scripted::{Scripted, modelled};

    /// A signature in this many seconds, on a machine that is `times` slower than the paper's Myrinet.
    fn measured(times: f64, seconds: f64) -> Scripted {
        let fast = Params::MYRINET;
        let slow = Params {
            send_overhead: times * fast.send_overhead,
            recv_overhead: times * fast.recv_overhead,
            gap: times * fast.gap,
            latency: times * fast.latency,
            ..fast
        };
        let mut runner = Scripted::new(move |order| Ok(modelled(order, &slow)));
        (runner.timed, runner.latest) = (true, 3.5 * seconds);
        let plan = SignaturePlan::short_of(&Asked::usual(seconds), Load::Words);
        plan.measure(&mut runner, 0.0..1.0).unwrap();
        runner
    }

    #[test]
    fn where_time_is_short_there_are_fewer_points_and_samples() {
        let [usual, short, slow] =
            [(1.0, 60.0), (1.0, 2.0), (30.0, 2.0)].map(|(times, seconds)| measured(times, seconds));
        let points = |runner: &Scripted| runner.kept.of(ISSUE).count();
        let samples = |runner: &Scripted| {
            let samples = || runner.timed().map(|order| order.samples);
            (samples().min().unwrap(), samples().max().unwrap())
        };
        assert!(points(&usual) > 60, "{}", points(&usual));
        assert_eq!([points(&short), points(&slow)], [24; 2]);
        // Eight of a batch of 128 messages, which then takes 13 ms.
        assert_eq!([&usual, &short, &slow].map(samples), [(50, 50), (8, 50), (3, 3)]);
        assert!(slow.kept.batches(&rtt(Load::Words)).len() > 1);
        assert!(slow.elapsed() < Duration::from_secs(8), "{:?}", slow.elapsed());
    }

    #[test]
    fn batches_go_to_the_points_that_narrow_what_is_known_worst() {
        // Bursts of few messages are off by up to a half; all else is exact.
        let mut at = 0_u32;
        let mut runner = Scripted::new(move |order| {
            at = at.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            let messages = order.parameters["messages"].as_u64().unwrap_or(0);
            let off = f64::from(at >> 16) / 65_536.0 - 0.5;
            let times = if (1..16).contains(&messages) { 1.0 + off } else { 1.0 };
            let mut done = modelled(order, &Params::MYRINET);
            for column in done.samples.values_mut() {
                column.iter_mut().for_each(|ns| *ns *= times);
            }
            Ok(done)
        });
        (runner.timed, runner.cost) = (true, 1e-3);
        SignaturePlan::short_of(&Asked::usual(60.0), Load::Words)
            .measure(&mut runner, 0.0..1.0)
            .unwrap();
        // Batches a round, in the first three rounds and in the five behind.
        let rounds = runner.kept.executed().map(|(_, batch)| batch.round).max().unwrap() + 1;
        assert!(rounds > 10, "{rounds}");
        let of = |messages: std::ops::Range<u64>| {
            let keys = runner.kept.of(ISSUE).filter(|(key, _)| {
                key.number("delay_ps") == Some(0)
                    && messages.contains(&key.number("messages").unwrap())
            });
            let batches: Vec<u32> =
                keys.flat_map(|(_, batches)| batches).map(|batch| batch.round).collect();
            let within = |rounds: std::ops::Range<u32>| {
                let count = batches.iter().filter(|round| rounds.contains(round)).count();
                count as f64 / rounds.len() as f64
            };
            [within(0..3), within(3..8)]
        };
        let ([few, more], [many, less]) = (of(1..5), of(64..1 << 20));
        assert!(more > 1.5 * few, "{few} {more}");
        // Long bursts go through the same drifts.
        assert!((0.9..1.1).contains(&(less / many)), "{many} {less}");
    }
}

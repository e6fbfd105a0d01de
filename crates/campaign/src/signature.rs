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
use crate::grid::choose;
use crate::judge::Judged;
use crate::key::Key;
use crate::load::Load;
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
        let limits = batches.limits();
        let round_trip = batches.order(1, Delay::NONE, batches.samples(1));
        let mut points = vec![Point { visits: RTT_VISITS, ..Point::new(rtt(load), round_trip) }];
        let mut delays = Vec::new();
        for curve in choose(&look, limits, |messages| batches.samples(messages)) {
            let delay = if curve.delay > 0.0 { runner.delay(curve.delay) } else { Delay::NONE };
            // Several delays shorter than the shortest that the processor can make are one.
            if delays.contains(&delay) {
                continue;
            }
            delays.push(delay);
            for &messages in &curve.messages {
                let samples = batches.samples(messages);
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

//! The times of echo over sizes, without a load and under loads.

use bandgap_kernels::{Contention, LOAD, LOADS, WHOLE};
use bandgap_stats::batch_value;

use super::curve::{CURVE, reaching};
use super::looks::{FIRST, LOOK, LOOKING, Load, outlasting, outlasts};
use super::{ContentionPlan, EchoAndLoad, SAMPLES};
use crate::budget::Budget;
use crate::data::{Kept, Rejected, Scarce};
use crate::experiment::{Experiment, Point, all_or_none};
use crate::judge::Judged;
use crate::runner::{Executed, Runner, Stop};
use crate::series::{by_time, key};
use crate::sizes::{BATCH_BYTES, samples_within};

/// Smallest number of samples in a batch of long messages.
const LEAST_SAMPLES: u32 = 4;
/// Bytes of the load in a sample of a checked batch, which keeps every message.
const CHECKED_BYTES: usize = 4 << 20;
/// Share of the budget after which no more sizes are tried.
const SIZES: f64 = 0.5;
/// Share of the launch's time after which a curve ends.
const CURVES: f64 = 0.25;

impl ContentionPlan {
    /// Half a round trip at each length of the curve, while there is time.
    fn curve(
        beside: &EchoAndLoad,
        budget: &Budget,
        runner: &mut dyn Runner,
    ) -> Result<Vec<(u32, f64)>, Stop> {
        let mut curve = Vec::new();
        for bytes in CURVE {
            if budget.spent_of_all(runner) > CURVES {
                break;
            }
            let kernel = beside.idle(bytes);
            let done = runner.run(&ContentionPlan::order(&kernel, LOOK))?;
            let time = batch_value(done.column(WHOLE)) / (2.0 * f64::from(kernel.messages));
            if time > 0.0 {
                curve.push((bytes, time));
            }
        }
        Ok(curve)
    }

    /// The loads of an echo, including none.
    fn loads(
        beside: &EchoAndLoad,
        budget: &Budget,
        runner: &mut dyn Runner,
    ) -> Result<Vec<Load>, Stop> {
        let curve = Self::curve(beside, budget, runner)?;
        let mut loads = Vec::new();
        for (name, percent) in LOADS {
            let length = reaching(&curve, f64::from(percent) / 100.0).filter(|_| percent > 0);
            // A curve without a bandwidth has no such length, so there is no such load.
            if length.is_some() || percent == 0 {
                let from = Some((FIRST, beside.idle(0)));
                loads.push(Load { name, percent, length, from });
            }
        }
        Ok(loads)
    }

    /// The point of this size under this load. `None` if no number of load messages outlasts the
    /// echo, or if there is no time to find it.
    fn point(
        &self,
        beside: &EchoAndLoad,
        size: u32,
        load: &mut Load,
        (budget, runner): (&Budget, &mut dyn Runner),
    ) -> Result<Option<Point>, Stop> {
        let idle = beside.idle(size);
        let in_time = budget.spent_of_all(runner) <= LOOKING;
        let kernel = match (load.length, load.first(&idle).filter(|_| in_time)) {
            (None, _) => Some(idle),
            (Some(length), Some(first)) => outlasting(&idle, length, first, (budget, runner))?,
            (Some(_), None) => None,
        };
        load.from = kernel.map(|kernel| (kernel.load_messages, idle));
        let at = (size, load.name, load.percent);
        let described = self.described(beside, at, load.length)?;
        let key = key(&self.step(beside, size, load.name), WHOLE);
        let Some(kernel) = kernel else {
            runner.keep(Kept::Point { key, point: described })?;
            return Ok(None);
        };
        let samples = samples_within(BATCH_BYTES, size, idle.messages, LEAST_SAMPLES, SAMPLES);
        let point = Point::new(key, ContentionPlan::order(&kernel, samples));
        // A checked batch is not timed, so its load may end before the echo.
        let longest = kernel.bytes.max(kernel.load_bytes).max(1);
        let load_messages = kernel.load_messages.min((CHECKED_BYTES / longest).max(1) as u32);
        let checked = Some(ContentionPlan::order(&Contention { load_messages, ..kernel }, samples));
        Ok(Some(Point { checked, ..point.described(described) }))
    }
}

impl Experiment for &ContentionPlan {
    /// Takes the sizes in ascending order, each under all loads. When half of the budget is spent,
    /// the other sizes are left out.
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let budget = &Budget::from_now(runner, self.asked.budget);
        let mut beside = Vec::new();
        for pair in &self.pairs {
            beside.push((pair, ContentionPlan::loads(pair, budget, runner)?));
        }
        let mut points = Vec::new();
        for (at, &size) in self.sizes.iter().enumerate() {
            if !points.is_empty() && budget.spent(runner) > SIZES {
                let share = at as f64 / self.sizes.len() as f64;
                runner.keep(Kept::Cut { what: Scarce::Points, share })?;
                break;
            }
            for (pair, loads) in &mut beside {
                for load in loads {
                    points.extend(self.point(pair, size, load, (budget, runner))?);
                }
            }
        }
        by_time(points.iter_mut().map(|point| &mut point.order), budget, runner)?;
        Ok(points)
    }

    /// Rejects a batch if in some sample the load did not outlast the echo. So the slowest echoes
    /// are missing, and the slowdown is too low if any batch was rejected.
    fn rejects(&self, point: &Point, done: &Executed) -> Option<Rejected> {
        let trips = point.key.number("messages").unwrap_or(1) as u32;
        let mut samples = done.column(WHOLE).iter().zip(done.column(LOAD));
        samples.any(|(echo, load)| *load < outlasts(*echo, trips)).then_some(Rejected::LoadEnded)
    }

    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        all_or_none(judged, points)
    }
}

//! The experiment of series: operations over message sizes, and over numbers of ranks.

mod choice;
mod points;
mod samples;
mod step;
mod thin;

use std::ops::Range;

use bandgap_comm::passing::Tuning;
use bandgap_kernels::{ISSUE, Over, SINGLE, Shape, WHOLE, in_series};
use serde::{Deserialize, Serialize};

use crate::beside::Beside;
use crate::budget::Budget;
use crate::campaign::campaign;
use crate::data::{Kept, Scarce};
use crate::experiment::{Experiment, Point};
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::{Planned, Room};
use crate::runner::{Executed, Runner, Stop};
use crate::sizes::SIZES_REGION;

use choice::Choices;
pub use points::{LeftOut, NoSteps, Points, Steps, at_distances};
use samples::by_bytes;
pub(crate) use samples::by_time;
pub use step::{BURST, Step, key};
use thin::affordable;

/// The series that the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesPlan {
    /// Precision and time.
    pub asked: Asked,
    /// The steps, all visited in the same rounds.
    pub steps: Vec<Step>,
    /// Samples per batch of short messages.
    pub samples: u32,
}

impl SeriesPlan {
    /// Whether any step is compared with this floor, which is between ranks 0 and 1: the step must be between these two
    /// alone, with messages as long as the floor's.
    pub fn has_like(&self, floor: &Beside) -> bool {
        let is_like = |step: &Step| {
            let of_two = step.kernel().is_ok_and(|(_, of)| !of.of_all || step.ranks == 2);
            let bytes = step.bytes();
            let is_of = bytes.is_ok_and(|bytes| floor.is_of(&step.series, bytes));
            step.pair == [0, 1] && of_two && is_of
        };
        self.steps.iter().any(is_like)
    }

    /// Measures the series as this part of the whole measurement's progress.
    ///
    /// # Errors
    /// As [`campaign`].
    pub fn measure(&self, runner: &mut dyn Runner, progress: Range<f64>) -> Result<(), Stop> {
        let plan = Plan { progress, ..Plan::new(&self.asked) };
        campaign(runner, &mut { self }, &plan).map(drop)
    }
}

impl Experiment for &SeriesPlan {
    fn points(&mut self, runner: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let (budget, most) = (&Budget::from_now(runner, self.asked.budget), self.samples);
        let all = &self.steps;
        let is_one_pair = |step: &Step| {
            let mut same = all.iter().filter(|other| other.series == step.series);
            same.all(|other| other.pair == step.pair)
        };
        let steps = affordable(all.clone(), budget, most, runner)?;
        for step in all.iter().filter(|step| !steps.contains(step)) {
            let point = step.described(step, is_one_pair(step))?;
            runner.keep(Kept::Point { key: key(step, WHOLE), point })?;
        }
        if steps.len() < all.len() {
            let share = steps.len() as f64 / all.len() as f64;
            runner.keep(Kept::Cut { what: Scarce::Points, share })?;
        }
        let choices = Choices::look(&steps, budget, runner)?;
        let mut points = Vec::new();
        for planned in &steps {
            let step = choices.of(planned);
            // The key is that of the planned step, so that launches that choose differently measure
            // one point.
            let key = key(planned, WHOLE);
            let point = planned.described(&step, is_one_pair(planned))?;
            points.push(Point::new(key, step.order(by_bytes(&step, most))?).described(point));
        }
        by_time(points.iter_mut().map(|point| &mut point.order), budget, runner)?;
        Ok(points)
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let mut split = vec![(point.key.clone(), point.once(done))];
        if in_series(point.key.what()).is_ok_and(|(fact, _)| fact.over == Over::Transfer) {
            split.push((point.key.clone().with("part", ISSUE), done.column(ISSUE).to_vec()));
        }
        if point.order.shape == Shape::Osu {
            // Of what is timed together, the parts of each stamped operation.
            let timed = point.described.as_ref().map_or(1.0, |of| of.timed);
            let single = done.column(SINGLE);
            let parts = timed * split[0].1.len() as f64 / single.len() as f64;
            let single = single.iter().map(|time| time / parts).collect();
            split.push((point.key.clone().with("part", SINGLE), single));
        }
        split
    }
}

impl Planned for SeriesPlan {
    const NAME: &'static str = "series";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        self.measure(runner, 0.0..1.0)
    }

    fn room(&self, ranks: usize, tuning: &Tuning) -> Room {
        let passes = |step: &Step| step.kernel().is_ok_and(|(fact, _)| fact.over == Over::Comm);
        if self.steps.iter().any(passes) {
            let orders = self.steps.iter().filter_map(|step| step.order(1).ok());
            return Room::passing(ranks, tuning, orders);
        }
        let longest = self.steps.iter().map(|step| step.size as usize).max().unwrap_or(0);
        Room::exposed(2 * longest.next_multiple_of(4096).max(SIZES_REGION))
    }

    fn in_virtual_time(self, by: &dyn Fn(Step) -> Option<Step>) -> Option<Self> {
        let (asked, steps) = (self.asked.in_virtual_time(), self.steps.into_iter().filter_map(by));
        Some(Self { asked, steps: steps.collect(), ..self })
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        Self { asked: asked.clone(), steps: vec![Step::new("comms1", 8, 2, 3)], samples: 20 }
    }
}

#[cfg(test)]
mod tests;

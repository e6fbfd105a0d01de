//! The experiment that measures the machine's floors, and bandgap's own layers beside them.
//!
//! A layer and the floors that it is compared with are measured in the same rounds, so that their
//! ratio compares neighbours in time.

use std::ops::RangeInclusive;

use bandgap_comm::Floor;
use bandgap_comm::passing::Tuning;
use serde::{Deserialize, Serialize};

use crate::bare::{point, samples_of};
use crate::campaign::campaign;
use crate::experiment::{Experiment, LEAST_ROUNDS, Point, not_converged};
use crate::judge::Judged;
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::{Planned, Room};
use crate::runner::{Executed, Runner, Stop};

pub use crate::bare::{FLOOR, RANKS, key, lost_key, order, sized_key};

/// Bytes that each rank exposes for the layers: a long copy to send, and one to arrive. At other times the
/// slots of message passing lie in the same memory.
pub const EXPOSED: usize = 2 << 20;

/// Largest number of rounds in a launch, whatever the budget.
pub const MOST_ROUNDS: u32 = 60;

/// The floors that the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FloorPlan {
    /// Precision and time. With a precision of 0 the machine is watched until the budget is spent.
    pub asked: Asked,
    /// Floors and layers.
    pub floors: Vec<Floor>,
    /// Time between rounds, in seconds, to watch a machine for a while.
    pub pause: f64,
}

impl Experiment for &FloorPlan {
    fn points(&mut self, _: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let mut points = Vec::new();
        for floor in &self.floors {
            if floor.sizes.is_empty() {
                points.push(point(floor, key(&floor.name), floor.bytes())?);
            }
            for &bytes in &*floor.sizes {
                points.push(point(floor, sized_key(&floor.name, bytes), bytes)?);
            }
        }
        Ok(points)
    }

    fn split(&self, point: &Point, done: &Executed) -> Vec<(Key, Vec<f64>)> {
        let name = point.key.text("name");
        let Some(floor) = self.floors.iter().find(|floor| name == Some(&floor.name)) else {
            return Vec::new();
        };
        let samples = samples_of(floor, done);
        let lost = f64::from(point.order.samples) - samples.len() as f64;
        let mut split = vec![(point.key.clone(), samples)];
        if !floor.sizes.is_empty() {
            split.push((lost_key(&point.key), vec![lost]));
        }
        split
    }

    /// A layer and its floors stay open together.
    fn open(&self, judged: &Judged<'_>, points: &[Point]) -> Vec<usize> {
        let mut open = vec![false; points.len()];
        for at in not_converged(judged, points) {
            open[at] = true;
        }
        let layers = self.floors.iter().filter(|floor| !floor.over.is_empty());
        let family = |layer: &Floor| -> Vec<usize> {
            let has = |name: &str| layer.name == name || layer.over.iter().any(|of| of == name);
            (0..points.len()).filter(|&at| points[at].key.text("name").is_some_and(has)).collect()
        };
        let families: Vec<Vec<usize>> = layers.map(family).collect();
        // A floor may belong to several families: opening one may open another.
        for _ in 0..families.len() {
            for family in families.iter().filter(|family| family.len() > 1) {
                let any = family.iter().any(|&at| open[at]);
                family.iter().for_each(|&at| open[at] = any);
            }
        }
        (0..points.len()).filter(|&at| open[at]).collect()
    }

    fn rounds(&self) -> RangeInclusive<u32> {
        LEAST_ROUNDS..=MOST_ROUNDS
    }
}

impl Planned for FloorPlan {
    const NAME: &'static str = "floors";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        let plan = Plan { pause: self.pause, ..Plan::new(&self.asked.unstamped()) };
        campaign(runner, &mut { self }, &plan).map(drop)
    }

    fn room(&self, _ranks: usize, _tuning: &Tuning) -> Room {
        Room::exposed(EXPOSED)
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        let half = bandgap_comm::Yields::HalfRoundTrip;
        let line = Floor::new("cache_line", "", half, 500);
        let message = Floor::new("message", "", half, 500);
        let message = message.layer(&[std::borrow::Cow::Borrowed("cache_line")], "comms1");
        Self { asked: asked.clone(), floors: vec![line, message], pause: 0.0 }
    }
}

#[cfg(test)]
mod tests;

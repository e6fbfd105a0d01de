//! The floors of the machine, and bandgap's own layers beside them.
//!
//! A layer and the floors that it is compared with are measured in the same rounds, so that their
//! ratio compares neighbours in time.

use std::ops::RangeInclusive;

use bandgap_comm::Floor;
use bandgap_comm::passing::Tuning;
use serde::{Deserialize, Serialize};

use crate::bare::samples_of;
use crate::campaign::campaign;
use crate::experiment::{Experiment, LEAST_ROUNDS, Point, not_converged};
use crate::judge::Judged;
use crate::key::Key;
use crate::plan::{Asked, Plan};
use crate::planned::{Planned, Room};
use crate::runner::{Executed, Runner, Stop};

pub use crate::bare::{FLOOR, RANKS, key, lost_key, order, sized_key};

/// Bytes that each rank exposes for the layers: a long copy to send and one to arrive. The slots of
/// message passing lie in the same memory, at another time.
pub const EXPOSED: usize = 2 << 20;

/// Rounds of a launch at most, whatever the budget.
pub const MOST_ROUNDS: u32 = 60;

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FloorPlan {
    /// How precisely, and in which time. With a precision of 0 the machine is watched for the whole
    /// time.
    pub asked: Asked,
    /// Floors and layers.
    pub floors: Vec<Floor>,
    /// Time between rounds, in seconds: to watch a machine for a while, rather than to measure.
    pub pause: f64,
}

impl Experiment for &FloorPlan {
    fn points(&mut self, _: &mut dyn Runner) -> Result<Vec<Point>, Stop> {
        let mut points = Vec::new();
        for floor in &self.floors {
            let name = &floor.name;
            let whole = [(key(name), floor.bytes())];
            let sizes = floor.sizes.iter().map(|&bytes| (sized_key(name, bytes), bytes));
            for (key, bytes) in whole.into_iter().filter(|_| floor.sizes.is_empty()).chain(sizes) {
                let order = order(floor, bytes)?;
                points.push(Point::new(key, order).checked_if(floor.kernel.is_some()));
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
        let families: Vec<Vec<usize>> = layers
            .map(|layer| {
                let names: Vec<&str> =
                    layer.over.iter().chain([&layer.name]).map(|name| &**name).collect();
                let is_its =
                    |at: &usize| points[*at].key.text("name").is_some_and(|of| names.contains(&of));
                (0..points.len()).filter(is_its).collect()
            })
            .collect();
        // A floor may be in several families: what opens one may open another.
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
        campaign(runner, &mut { self }, &plan)
    }

    fn room(&self, _ranks: usize, _tuning: &Tuning) -> Room {
        Room::exposed(EXPOSED)
    }

    #[cfg(test)]
    fn short(asked: &Asked) -> Self {
        let half = bandgap_comm::Yields::HalfRoundTrip;
        let message = Floor {
            over: vec!["cache_line".into()].into(),
            kernel: Some("comms1".into()),
            ..Floor::new("message", "8-byte message, half round trip", half, 500)
        };
        let floors =
            vec![Floor::new("cache_line", "one store seen by the other core", half, 500), message];
        Self { asked: asked.clone(), floors, pause: 0.0 }
    }
}

#[cfg(test)]
mod tests;

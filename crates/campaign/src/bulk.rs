//! Bulk transfers: times over all sizes, then the signature at a few of them.
//!
//! The signatures over (M, Δ) of several lengths n are the signature's surface over (M, Δ, n). Each
//! gets an equal share of the time that is left.

use bandgap_comm::passing::Tuning;
use serde::{Deserialize, Serialize};

use crate::planned::{Planned, Room};
use crate::runner::{Runner, Stop};
use crate::series::{SeriesPlan, Step};
use crate::signature::SignaturePlan;

/// Least share of the whole time that one signature gets, even if the series took longer than it
/// should.
const LEAST_SHARE: f64 = 0.04;

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BulkPlan {
    /// The times over all sizes.
    pub series: SeriesPlan,
    /// The signatures, of no bytes first: the latency of the others rests on that one.
    pub surface: Vec<SignaturePlan>,
    /// Time for one launch, in seconds: for all of it together.
    pub budget: f64,
}

impl Planned for BulkPlan {
    const NAME: &'static str = "bulk";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        let (begun, [_, latest]) = (runner.elapsed(), runner.ends());
        let all = self.surface.len();
        let share = if all == 0 { 1.0 } else { self.series.asked.budget / self.budget };
        // So that the least of one does not take the time of the others.
        let limit = |runner: &mut dyn Runner, share: f64| {
            let now = runner.elapsed();
            runner.limit(now + latest.saturating_sub(now).mul_f64(share));
        };
        limit(runner, share);
        self.series.measure(runner, 0.0..share)?;
        for (at, signature) in self.surface.iter().enumerate() {
            let spent = runner.elapsed().saturating_sub(begun).as_secs_f64();
            limit(runner, 1.0 / (all - at) as f64);
            let left = (self.budget - spent) / (all - at) as f64;
            let asked = signature.asked.within(left.max(LEAST_SHARE * self.budget));
            let signature = SignaturePlan { asked, ..signature.clone() };
            let end = |at: usize| share + (1.0 - share) * at as f64 / all as f64;
            signature.measure(runner, end(at)..end(at + 1))?;
        }
        Ok(())
    }

    fn room(&self, ranks: usize, tuning: &Tuning) -> Room {
        self.series.room(ranks, tuning)
    }

    fn in_virtual_time(self, by: &dyn Fn(Step) -> Option<Step>) -> Option<Self> {
        let surface = self.surface.into_iter().filter_map(|plan| plan.in_virtual_time(by));
        Some(Self { surface: surface.collect(), series: self.series.in_virtual_time(by)?, ..self })
    }

    #[cfg(test)]
    fn short(asked: &crate::plan::Asked) -> Self {
        let surface = vec![SignaturePlan::short_of(asked, crate::load::Load::Get { bytes: 64 })];
        Self { series: SeriesPlan::short(asked), surface, budget: 2.0 * asked.budget }
    }
}

#[cfg(test)]
mod tests;

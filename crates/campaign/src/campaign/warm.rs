//! Warm-up: code, caches, pages and sockets of every point, before its first batch that counts.

use bandgap_kernels::Order;

use super::Campaign;
use crate::data::{Batch, Kept, Rejected};
use crate::judge::{batch_value, near};
use crate::runner::Stop;

/// Largest number of samples in a batch.
const SAMPLES: u32 = 10;
/// Largest number of batches of a point until two successive ones agree.
const BATCHES: usize = 20;
/// Batches agree if they are within this share of the longer one.
const AGREE: f64 = 0.05;
/// Share of the budget after which the warm-up ends. The remaining points start cold.
const WARMING: f64 = 0.45;

impl Campaign<'_> {
    /// Runs short batches of each point until two agree. If none do, the last one is kept as
    /// rejected; the point is measured all the same.
    ///
    /// # Errors
    /// As [`crate::Runner::run`].
    pub(super) fn warm(&mut self) -> Result<(), Stop> {
        if self.runner.virtual_time() || !self.plan.warm {
            return Ok(());
        }
        let points = self.points;
        for point in points {
            let samples = point.order.samples.min(SAMPLES);
            let order = Order { samples, ..point.order.clone() };
            // The last batch and its key, while no two agree.
            let mut last = None;
            for _ in 0..BATCHES {
                if self.budget.spent(self.runner) > WARMING {
                    break;
                }
                let done = self.runner.run(&order)?;
                let under = self.split(point, &done).into_iter().next();
                let Some((key, samples)) = under.filter(|(_, samples)| !samples.is_empty()) else {
                    break;
                };
                let now = batch_value(&samples);
                if last.as_ref().is_some_and(|(_, _, last)| near(*last, now, AGREE)) {
                    last = None;
                    break;
                }
                last = Some((key, samples, now));
            }
            if let Some((key, samples, _)) = last {
                let launch = self.runner.launch();
                let rejected = Some(Rejected::NotWarm);
                let batch = Batch { samples, launch, rejected, ..Batch::default() };
                self.keep(Kept::Batch { key, batch })?;
            }
        }
        Ok(())
    }
}

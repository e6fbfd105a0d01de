//! The experiment of bulk transfers: times over all sizes, then signatures at a few of them.
//!
//! The signatures over (M, Δ) for several lengths n form the surface over (M, Δ, n). Each gets an
//! equal share of the time that is left.

use std::time::Duration;

use bandgap_comm::passing::Tuning;
use bandgap_kernels::{Get, Kernel, Store};
use serde::{Deserialize, Serialize};

use crate::data::Measurements;
use crate::load::Load;
use crate::plan::{Asked, BATCH};
use crate::planned::{Planned, Room};
use crate::runner::{Runner, Stop};
use crate::series::{SeriesPlan, Step};
use crate::signature::SignaturePattern::OneToOne;
use crate::signature::SignaturePlan;
use crate::sizes::Sizes;

/// Smallest share of the launch's time for one signature, even if the series took longer than planned.
const LEAST_SHARE: f64 = 0.04;

/// Largest number of transfers in a burst, which shows the gap; fewer if they exceed
/// [`BURST_BYTES`].
const BURST: u32 = 16;
/// Largest number of bytes in a burst.
const BURST_BYTES: usize = 1 << 20;
/// Signatures are measured at the sizes nearest to these.
const SURFACE_SIZES: [u32; 4] = [64, 1 << 10, 16 << 10, 256 << 10];
/// Longest transfers for which there is time to measure bursts with delays.
const SURFACE_LONGEST: u32 = 4 << 20;
/// The series' share of the time if signatures follow.
const SERIES_SHARE: f64 = 0.5;

/// The bulk transfers that the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BulkPlan {
    /// The times over all sizes.
    pub series: SeriesPlan,
    /// The signatures. The first is of transfers of 0 bytes, on which the latency of the others
    /// rests.
    pub surface: Vec<SignaturePlan>,
}

impl BulkPlan {
    /// A plan for stores and gets over sizes. If exactly one of `stores` and `gets` is true, it has
    /// only these. With a `surface`, signatures follow at a few of the sizes: of stores, or where
    /// there are only gets, of gets. Stores stand beside these, since their os is that of the peer
    /// that sends a get's bytes, unless gets just read its memory (`surface` is true).
    pub fn new(
        asked: Asked,
        [stores, gets]: [bool; 2],
        (sizes, perturb): (&Sizes, bool),
        surface: Option<bool>,
        ranks: usize,
    ) -> Self {
        let both = [Store::SERIES, Get::SERIES].map(|series| series[0].name);
        let names = match (stores, gets) {
            (true, false) => &both[..1],
            (false, true) => &both[1..],
            _ => &both[..],
        };
        let at = surface.map_or(Vec::new(), |_| signature_sizes(&sizes.all(false)));
        let stores = stores || !gets || surface == Some(false);
        let stored = at.iter().filter(|_| stores).map(|&bytes| Load::Store { bytes });
        let got = at.iter().filter(|_| gets).map(|&bytes| Load::Get { bytes });
        let of = |load| SignaturePlan { load, ..SignaturePlan::new(asked.clone(), OneToOne) };
        let surface: Vec<SignaturePlan> = stored.chain(got).map(of).collect();
        let steps = steps(names, &sizes.all(perturb), ranks);
        Self { series: SeriesPlan { asked, steps, samples: BATCH }, surface }
    }

    /// The names of its series.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.series.steps.iter().map(|step| &*step.series).collect();
        names.dedup();
        names
    }
}

/// Single transfers of every size, and bursts where the size is 0 or a power of two.
fn steps(names: &[&str], sizes: &[u32], ranks: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for &name in names {
        let step = |bytes, messages| Step::new(name, bytes, messages, ranks);
        for &bytes in sizes {
            steps.push(step(bytes, 1));
            let fit = BURST_BYTES / (bytes as usize).max(64);
            let messages = BURST.min(fit as u32);
            if messages > 1 && (bytes == 0 || bytes.is_power_of_two()) {
                steps.push(step(bytes, messages));
            }
        }
    }
    steps
}

/// The sizes of the signatures: 0, on which the latency of the others rests, then of those asked
/// for the nearest to each of the [`SURFACE_SIZES`]. Empty if all are longer than
/// [`SURFACE_LONGEST`].
fn signature_sizes(asked: &[u32]) -> Vec<u32> {
    let fit = || asked.iter().copied().filter(|&size| size <= SURFACE_LONGEST);
    let near = |wanted: u32| {
        let off = |size: &u32| (f64::from(*size) / f64::from(wanted)).ln().abs();
        fit().filter(|&size| size > 0).min_by(|a, b| off(a).total_cmp(&off(b)))
    };
    let base = fit().next().map(|_| 0);
    let near = SURFACE_SIZES.into_iter().filter_map(near);
    let mut sizes: Vec<u32> = base.into_iter().chain(near).collect();
    sizes.dedup();
    sizes
}

impl Planned for BulkPlan {
    const NAME: &'static str = "bulk";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        let ([usual, latest], all) = (runner.ends(), self.surface.len());
        let least = usual.saturating_sub(runner.elapsed()).mul_f64(LEAST_SHARE);
        let share = if all == 0 { 1.0 } else { SERIES_SHARE };
        // No campaign takes the time of the others, not even for its least rounds.
        let limit = |runner: &mut dyn Runner, share: f64| {
            if !runner.virtual_time() {
                let now = runner.elapsed();
                let part = |end: Duration| end.saturating_sub(now).mul_f64(share);
                runner.limit([now + part(usual).max(least), now + part(latest)]);
            }
        };
        limit(runner, share);
        self.series.measure(runner, 0.0..share)?;
        for (at, signature) in self.surface.iter().enumerate() {
            limit(runner, 1.0 / (all - at) as f64);
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
        Some(Self { surface: surface.collect(), series: self.series.in_virtual_time(by)? })
    }

    fn after(self, table: &Measurements) -> Self {
        let surface = self.surface.into_iter().map(|plan| plan.after(table));
        Self { surface: surface.collect(), ..self }
    }

    #[cfg(test)]
    fn short(asked: &crate::plan::Asked) -> Self {
        let surface = vec![SignaturePlan::short_of(asked, crate::load::Load::Get { bytes: 64 })];
        Self { series: SeriesPlan::short(asked), surface }
    }
}

#[cfg(test)]
mod tests;

//! `bandgap bulk`.

use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::beside::Beside;
use bandgap_campaign::bulk::BulkPlan;
use bandgap_campaign::load::Load;
use bandgap_campaign::series::{SeriesPlan, Step};
use bandgap_campaign::signature::{SignaturePattern, SignaturePlan};
use bandgap_kernels::{Get, Kernel, Store};
use bandgap_launch::{Exit, Result};
use clap::Args;

use super::signature::plan;
use crate::args::Measure;
use crate::session::{BATCH, Session, one_size};
use crate::sizes::Sizes;

/// Time for the command.
const USUAL: Duration = Duration::from_secs(30);
/// Transfers of a burst, from which the gap is read, as far as they stay within [`BURST_BYTES`].
const BURST: u32 = 16;
/// Bytes of a burst.
const BURST_BYTES: usize = 1 << 20;
/// Sizes at which the signature is measured.
const SURFACE_SIZES: [u32; 4] = [64, 1 << 10, 16 << 10, 256 << 10];
/// Longest transfers of which bursts with delays are still to be had in the time.
const SURFACE_LONGEST: u32 = 4 << 20;
/// Share of the time that the series gets where signatures follow.
const SERIES_SHARE: f64 = 0.5;

/// Which bulk transfers are measured.
#[derive(Clone, Debug, Default, Args)]
#[group(skip)]
pub struct Bulk {
    /// Stores only
    #[arg(long)]
    pub store: bool,
    /// Gets only
    #[arg(long)]
    pub get: bool,
    /// Message sizes: 8,64KiB,1MiB, 0:4MiB (powers of two), 1:4MiB:x4, 1000:8000:+1000 [default: 0:4MiB]
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<Sizes>,
    /// Measure 3 bytes below and above powers of two as well
    #[arg(long)]
    pub perturb: bool,
    /// Leave out the signatures (overheads, gap, latency) at a few sizes; they are of stores, or
    /// with --get of gets
    #[arg(long)]
    pub no_surface: bool,
}

/// Measures, prints and keeps stores and gets over message sizes, and signatures at a few.
///
/// # Errors
/// It could not be measured, or not be written.
pub fn run(bulk: &Bulk, measure: &Measure) -> Result<Exit> {
    let ranks = one_size(measure, 2)?;
    let mut session = Session::open("bulk", measure, USUAL, [("bulk", 1.0)])?;
    self::measure(&mut session, bulk, ranks)?;
    session.close()
}

/// Measures and keeps them.
///
/// # Errors
/// As [`run`].
pub fn measure(session: &mut Session<'_>, bulk: &Bulk, ranks: usize) -> Result<()> {
    let sizes = bulk.sizes.clone().unwrap_or_else(|| Sizes::powers(0, 4 << 20));
    let (from, to) = sizes.ends();
    let both = [name::<Store>(), name::<Get>()];
    let names = match (bulk.store, bulk.get) {
        (true, false) => &both[..1],
        (false, true) => &both[1..],
        _ => &both[..],
    };
    let asked = session.asked();
    let loads = if bulk.no_surface { Vec::new() } else { loads(bulk, from, to) };
    let share = if loads.is_empty() { 1.0 } else { SERIES_SHARE };
    let budget = asked.budget;
    let series = SeriesPlan {
        asked: asked.within(share * budget),
        steps: steps(names, &sizes.all(bulk.perturb), ranks),
        samples: BATCH,
    };
    let words = plan(asked, SignaturePattern::OneToOne);
    let of = |load| SignaturePlan { load, ..words.clone() };
    let surface = loads.into_iter().map(of).collect();
    let plan = BulkPlan { series, surface, budget };
    let fits = |floor: &Beside| plan.series.has_like(floor);
    session.measure(&plan, ranks, (names, &fits), |measured| assemble::bulk(measured, &plan))
}

/// The name of a kernel's series.
fn name<K: Kernel>() -> &'static str {
    K::SERIES.first().map_or(K::NAME, |series| series.name)
}

/// Single transfers of every size, and bursts of those that are powers of two.
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

/// What the requests of the signatures carry: stores, unless only gets are asked for, and gets
/// where they are.
fn loads(bulk: &Bulk, from: u32, to: u32) -> Vec<Load> {
    let sizes = signature_sizes(from, to);
    let stores = sizes.iter().map(|&bytes| Load::Store { bytes });
    let gets = sizes.iter().map(|&bytes| Load::Get { bytes });
    let stores = stores.filter(|_| bulk.store || !bulk.get);
    stores.chain(gets.filter(|_| bulk.get)).collect()
}

/// The sizes of signatures: none, which the others' latency rests on, then those of
/// [`SURFACE_SIZES`] that were asked for; where there is none of these, the greatest size. None at
/// all where all are longer than [`SURFACE_LONGEST`].
fn signature_sizes(from: u32, to: u32) -> Vec<u32> {
    if from > SURFACE_LONGEST {
        return Vec::new();
    }
    let mut sizes = vec![0];
    sizes.extend(SURFACE_SIZES.into_iter().filter(|size| (from..=to).contains(size)));
    if sizes.len() == 1 && to > 0 {
        sizes.push(to.min(SURFACE_LONGEST));
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_of_a_few_sizes_and_of_none() {
        assert_eq!(signature_sizes(0, 4 << 20), [0, 64, 1 << 10, 16 << 10, 256 << 10]);
        assert_eq!(signature_sizes(1 << 10, 64 << 10), [0, 1 << 10, 16 << 10]);
        assert_eq!(signature_sizes(0, 16), [0, 16]);
        assert_eq!(signature_sizes(4 << 20, 4 << 20), [0, 4 << 20]);
        assert_eq!(signature_sizes(0, 0), [0]);
        assert_eq!(signature_sizes(3 << 20, 64 << 20), [0, 4 << 20]);
        assert!(signature_sizes(8 << 20, 64 << 20).is_empty());
    }
}

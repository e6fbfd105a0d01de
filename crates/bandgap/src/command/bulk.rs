//! `bandgap bulk`.

use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::beside::Beside;
use bandgap_campaign::bulk::BulkPlan;
use bandgap_campaign::sizes::Sizes;
use bandgap_launch::{Exit, Result};
use clap::Args;

use crate::args::Measure;
use crate::session::Session;

/// Time for the command.
const USUAL: Duration = Duration::from_secs(30);
/// The bulk transfers to measure.
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
    /// Leave out the signatures (overheads, gap, latency) at a few sizes
    #[arg(long)]
    pub no_surface: bool,
}

/// Measures, prints and keeps stores and gets over message sizes, and signatures at a few sizes.
///
/// # Errors
/// The measurement or the output failed.
pub fn run(bulk: &Bulk, measure: &Measure) -> Result<Exit> {
    let ranks = measure.one_size(2)?;
    let stages = [("bulk", 1.0)];
    Session::each("bulk", measure, USUAL, stages, |session| self::measure(session, bulk, ranks))
}

/// Measures and keeps bulk transfers.
///
/// # Errors
/// As [`run`].
pub fn measure(session: &mut Session<'_>, bulk: &Bulk, ranks: usize) -> Result<()> {
    let sizes = bulk.sizes.clone().unwrap_or_default();
    let (asked, transfers) = (session.asked(), [bulk.store, bulk.get]);
    let surface = (!bulk.no_surface).then_some(session.target.can(|can| can.reads));
    let plan = BulkPlan::new(asked, transfers, (&sizes, bulk.perturb), surface, ranks);
    let names = plan.names();
    let fits = |floor: &Beside| plan.series.has_like(floor);
    session.measure(&plan, ranks, (&names, &fits), |measured| assemble::bulk(measured, &plan))
}

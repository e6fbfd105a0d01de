//! `bandgap` without a command: this machine's transports on one screen.

use std::time::Duration;

use bandgap_campaign::signature::SignaturePattern;
use bandgap_campaign::sizes::Sizes;
use bandgap_launch::{Exit, Result, Target, Transport, simulated};
use clap::Args;

use super::series::{Lengths, Planned, Series, Ways};
use super::{breakdown, bulk, comet, signature};
use crate::args::Measure;
use crate::session::Session;

/// Default times for the whole command.
const USUAL: Duration = Duration::from_secs(40);
const QUICK: Duration = Duration::from_secs(15);
const FULL: Duration = Duration::from_secs(140);

/// Launches of a signature, which differ more than what is measured in one. Those of a series are fewer and longer: warm
/// caches and full pipes take time.
const LAUNCHES: u32 = 10;

/// How much to measure.
#[derive(Clone, Debug, Args)]
pub struct Run {
    /// In 15 s rather than 40
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// COMMS2, bulk transfers, CoMet's kernels and the breakdown too
    #[arg(long)]
    pub full: bool,
}

/// The weight of a part in time.
fn weight(part: &str) -> f64 {
    match part {
        "comet" => 5.0,
        "bulk" => 2.0,
        _ => 1.0,
    }
}

/// Measures on the compared transports, or on the named target.
///
/// # Errors
/// Ranks could not be started, or results not be written.
pub fn run(run: &Run, measure: &Measure) -> Result<Exit> {
    let ranks = measure.one_size(2)?;
    let targets = match measure.ranks.transport.is_empty() {
        false => measure.targets(),
        true => Transport::compared(measure.has_hosts())
            .chain(measure.native)
            .map(Target::Real)
            .collect(),
    };
    let mut parts = Vec::new();
    for target in &targets {
        parts.push((target.clone(), "signature"));
        if moves_bytes(target)? {
            parts.push((target.clone(), "comms1"));
        }
    }
    if run.full {
        let simulated = matches!(targets[0], Target::Simulated(_));
        parts.extend(["comms2", "bulk", "comet"].map(|part| (targets[0].clone(), part)));
        // A library that is initialised once was initialised without stamps.
        let divided = |of: &Target| !simulated && !of.can(|can| can.once);
        let divided = targets.into_iter().filter(divided);
        parts.extend(divided.map(|target| (target, "breakdown")));
    }
    let usual = match (run.quick, run.full) {
        (true, _) => QUICK,
        (_, true) => FULL,
        _ => USUAL,
    };
    let all: f64 = parts.iter().map(|(_, part)| weight(part)).sum();
    let stages = parts.iter().map(|(target, part)| (format!("{target} {part}"), weight(part)));
    let mut session = Session::open("run", measure, usual, stages)?;
    for (target, part) in parts {
        session.target = target;
        // Comet shares out its time itself.
        if part != "comet" {
            session.share(weight(part) / all);
        }
        match part {
            "signature" => {
                session.launch_often(LAUNCHES);
                signature::measure(&mut session, SignaturePattern::OneToOne, ranks)?;
            }
            "bulk" => bulk::measure(&mut session, &bulk::Bulk::default(), ranks)?,
            "comet" => {
                let all_kernels = comet::Comet::default();
                let kernels = comet::Parts::of(&all_kernels, measure)?;
                kernels.measure(&mut session, &all_kernels, weight(part) / all)?;
            }
            "breakdown" => breakdown::measure(&mut session, breakdown::BYTES, &[])?,
            name => {
                let sizes = Some(Sizes::powers(1, 4 << 20));
                let lengths = Lengths { sizes, ..Lengths::default() };
                let series = Series { lengths, ..Series::default() };
                let planned = Planned::of(&[name], false, (&series, &Ways::default()), measure)?;
                planned.measure(&mut session, &series)?;
            }
        }
        if session.failed() {
            break;
        }
    }
    session.close()
}

/// Whether the target can move bytes: a simulated machine may lack their cost.
pub fn moves_bytes(target: &Target) -> Result<bool> {
    match target {
        Target::Real(_) => Ok(true),
        Target::Simulated(name) => Ok(!simulated(name)?.protocols.is_empty()),
    }
}

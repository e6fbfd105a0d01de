//! `bandgap` by itself: what this machine's transports are like, on one screen.

use std::time::Duration;

use bandgap_campaign::signature::SignaturePattern;
use bandgap_launch::{Exit, Failure, Target, Transport, simulated};
use clap::Args;

use super::series::{Lengths, Planned, Series};
use super::{breakdown, bulk, comet, signature};
use crate::args::Measure;
use crate::session::{Session, one_size};
use crate::sizes::Sizes;

/// Times for the whole command.
const USUAL: Duration = Duration::from_secs(45);
const QUICK: Duration = Duration::from_secs(15);
const FULL: Duration = Duration::from_secs(140);

/// How much is measured.
#[derive(Clone, Debug, Args)]
pub struct Run {
    /// In 15 s rather than 45
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// COMMS2, bulk transfers, CoMet's kernels and the breakdown too
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub measure: Measure,
}

/// One thing that is measured over one transport.
enum Part {
    Signature,
    Series(&'static str),
    Bulk,
    Comet,
    Breakdown,
}

impl Part {
    fn name(&self) -> &str {
        match self {
            Self::Signature => "signature",
            Self::Series(name) => name,
            Self::Bulk => "bulk",
            Self::Comet => "comet",
            Self::Breakdown => "breakdown",
        }
    }

    /// Its part of the time.
    fn weight(&self) -> f64 {
        match self {
            Self::Comet => 5.0,
            Self::Bulk => 2.0,
            Self::Signature | Self::Series(_) | Self::Breakdown => 1.0,
        }
    }
}

/// Measures on the transports that are compared, or on the one that was named.
///
/// # Errors
/// Ranks could not be started, or results not be written.
pub fn run(run: &Run) -> Result<Exit, Failure> {
    let measure = &run.measure;
    let ranks = one_size(measure, 2)?;
    let several = measure.has_hosts();
    let compared = Transport::list()
        .filter(|transport| transport.can.compared && (transport.can.hosts || !several));
    let targets = match measure.ranks.transport.first() {
        Some(target) => vec![target.clone()],
        None => {
            let mpi = measure.mpi.then(Transport::mpi);
            compared.chain(mpi).map(Target::Real).collect()
        }
    };
    let mut parts = Vec::new();
    for target in &targets {
        parts.push((target.clone(), Part::Signature));
        if moves_bytes(target)? {
            parts.push((target.clone(), Part::Series("comms1")));
        }
    }
    if run.full {
        let first = targets[0].clone();
        let simulated = matches!(first, Target::Simulated(_));
        parts.push((first.clone(), Part::Series("comms2")));
        parts.push((first.clone(), Part::Bulk));
        parts.push((first, Part::Comet));
        let divided = targets.into_iter().filter(|_| !simulated);
        parts.extend(divided.map(|target| (target, Part::Breakdown)));
    }
    let usual = match (run.quick, run.full) {
        (true, _) => QUICK,
        (_, true) => FULL,
        _ => USUAL,
    };
    let all: f64 = parts.iter().map(|(_, part)| part.weight()).sum();
    let stages =
        parts.iter().map(|(target, part)| (format!("{target} {}", part.name()), part.weight()));
    let mut session = Session::open("run", measure, usual, stages.collect())?;
    for (target, part) in parts {
        session.target = target;
        session.share(part.weight() / all);
        match part {
            Part::Signature => signature::measure(&mut session, SignaturePattern::OneToOne, ranks)?,
            Part::Series(name) => {
                let sizes = Some(Sizes::powers(1, 4 << 20));
                let lengths = Lengths { sizes, ..Lengths::default() };
                let series = Series { lengths, ..Series::default() };
                let planned = Planned::of(&[name], false, &series, measure)?;
                planned.measure(&mut session, &series)?;
            }
            Part::Bulk => bulk::measure(&mut session, &bulk::Bulk::default(), ranks)?,
            Part::Comet => {
                let all_kernels = comet::Comet::default();
                let kernels = comet::Parts::of(&all_kernels, measure)?;
                kernels.measure(&mut session, &all_kernels, part.weight() / all)?;
            }
            Part::Breakdown => breakdown::measure(&mut session, &[])?,
        }
        if session.failed() {
            break;
        }
    }
    session.close()
}

/// Whether messages of bytes have a cost there: a simulated machine may not say what they take.
pub fn moves_bytes(target: &Target) -> Result<bool, Failure> {
    match target {
        Target::Real(_) => Ok(true),
        Target::Simulated(name) => Ok(!simulated(name)?.protocols.is_empty()),
    }
}

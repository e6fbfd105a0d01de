//! `bandgap layers`: the same kernel over several transports.

use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_launch::{Exit, Result, Target, Transport, carries, is_over, launcher_of, over, usage};
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::comet::{Comet, passing, used};
use super::series::{Planned, Series, Ways};
use crate::args::Measure;
use crate::refused::unmade;
use crate::session::Session;

/// Default time for each transport.
const USUAL: Duration = Duration::from_secs(15);

/// The kernel, and the ranks.
#[derive(Clone, Debug, Args)]
pub struct Layers {
    /// Which; contention and overlap are measured by comet, over one transport at a time
    #[arg(value_name = "KERNEL", value_parser = PossibleValuesParser::new(passing()))]
    kernel: String,
    #[command(flatten)]
    series: Series,
}

/// Measures the kernel over each transport, and the added cost of each layer over the previous one.
///
/// # Errors
/// The measurement or the output failed.
pub fn run(Layers { kernel, series }: &Layers, measure: &Measure) -> Result<Exit> {
    let mut targets = measure.ranks.transport.clone();
    if targets.is_empty() {
        // Transports within this host first.
        let mut usual: Vec<Transport> = Transport::compared(measure.has_hosts()).collect();
        usual.sort_by_key(|transport| transport.can.hosts);
        targets = usual.into_iter().map(Target::Real).collect();
    }
    if targets.len() < 2 {
        let what = "compare the layers of one transport";
        return Err(usage!("{what}").hint("name several, as in -t shm,tcp,mpi"));
    }
    let mut parts = Vec::new();
    for target in targets {
        if let Target::Real(transport) = &target
            && transport.can.launcher
        {
            let of = &measure.ranks.of_library;
            launcher_of(of.launch_with.as_deref(), of.library(transport), 2)?;
        }
        let mut of = measure.everywhere()?;
        of.ranks.transport = vec![target.clone()];
        parts.push((target, Planned::of(&[kernel], false, (series, &Ways::default()), &of)?));
    }
    used(&Comet { series: series.clone(), ..Comet::default() }, &[kernel])?;
    let usual = USUAL * parts.len() as u32;
    let mut session = Session::open("layers", measure, usual, [(kernel, 1.0)])?;
    let turns = parts.len();
    session.turn(0, turns);
    let names: Vec<String> = parts.iter().map(|(target, _)| target.name()).collect();
    let (mut at_work, mut below) = (Vec::new(), Vec::new());
    for (at, (target, planned)) in parts.into_iter().enumerate() {
        // An MPI is to send over the UCX before it.
        let before = names[..at].last().filter(|_| target.can(|can| can.launcher));
        below.push(before.map(|before| over(before)));
        session.target = target;
        at_work.push(planned.begin(&mut session)?);
    }
    // In turns, so that a change on the machine affects all.
    'launches: for launch in 0..measure.launches() {
        if !session.has_time_for(launch) {
            break;
        }
        for (at, of) in at_work.iter_mut().enumerate() {
            session.turn(at, turns);
            session.environment = below[at].clone().unwrap_or_default();
            let to_keep = launch > 0 || at > 0;
            if !of.collect(&mut session, Some(launch), to_keep)? {
                break 'launches;
            }
        }
    }
    for of in at_work {
        of.end(&mut session, series)?;
    }
    let precision = measure.precision.precision.0;
    let library = |name: &String| {
        let its = session.sink.run.setup.of.iter().find(|of| of.transport == *name);
        its.and_then(|of| of.library.clone()).unwrap_or_default()
    };
    let stands = |name: &String, of: &Option<_>| {
        of.as_ref().is_none_or(|of: &Vec<_>| !of.is_empty() && is_over(&library(name), of))
    };
    let all = names.iter().zip(&below);
    let layers: Vec<_> = all.map(|(name, of)| (&**name, carries(name), stands(name, of))).collect();
    let made = assemble::layers(&session.sink.run.results, kernel, &layers, precision);
    let made = made.map_err(unmade)?;
    if !made.results.is_empty() {
        session.sink.add(made, None)?;
    }
    session.close()
}

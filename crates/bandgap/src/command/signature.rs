//! `bandgap signature`.

use super::describe::Host;
use crate::args::{Measure, Output, Signature};
use crate::output::Sink;
use crate::progress::Progress;
use bandgap_campaign::Task;
use bandgap_campaign::load::Load;
use bandgap_campaign::signature::{SignaturePattern, SignaturePlan};
use bandgap_launch::Exit;
use bandgap_launch::Failure;
use bandgap_launch::Target;
use bandgap_launch::{self as launch, Collected, Stage};
use bandgap_launch::{Ended, Transport, Wait};
use bandgap_results::assemble;

/// Samples of a batch ("Assessing Fast Network Interfaces", Small-message empirical results).
pub const BATCH: u32 = bandgap_stats::batch::BATCH as u32;

/// Most ranks of which all pairs are measured: 2016 pairs.
const MOST_PAIRED: usize = 64;

/// Measures, prints and keeps the signature.
///
/// # Errors
/// It could not be measured, or not be written.
pub fn run(signature: &Signature, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let target = measure.transport.clone().unwrap_or(Target::Real(Transport::Shm));
    let (pattern, least) = pattern(signature);
    let ranks = ranks(measure, least, pattern)?;
    let mut sink = Sink::open(output, "signature", measure)?;
    let stage = Stage::new()?;
    let fan_in = signature.fan_in;
    let pairs = fan_in.is_none() && all_pairs(ranks, &mut sink);
    let task = Task::Signature { plan: plan(&stage, measure, pattern), pairs, fan_in };
    sink.plan(&task);
    let exit = one(&stage, &target, ranks, &task, measure, output, &mut sink)?;
    sink.close(exit)
}

/// Measures on one target; what was measured goes to `sink` whatever happens.
///
/// # Errors
/// Ranks could not be started, or results not be written.
pub fn one(
    stage: &Stage,
    target: &Target,
    ranks: usize,
    task: &Task,
    measure: &Measure,
    output: &Output,
    sink: &mut Sink,
) -> Result<Exit, Failure> {
    let collected = {
        let progress = Progress::new(&target.to_string(), output.quiet);
        let mut show = |done: f64, doing: &str| progress.show(done, doing);
        match (target, launch::machine(target)?) {
            (_, Some(machine)) => {
                if ranks > machine.ranks() {
                    return Err(Failure::new(
                        Exit::Usage,
                        format!("run {ranks} ranks: {} has {}", machine.name(), machine.ranks()),
                    ));
                }
                launch::in_virtual_time(stage, &machine, ranks, task, &mut show)?
            }
            (Target::Real(transport), None) => {
                launch::on_processes(stage, *transport, ranks, task, &measure.options(), &mut show)?
            }
            (Target::Simulated(_), None) => return Ok(Exit::Fine),
        }
    };
    if let Some(placement) = &collected.placement {
        sink.host(&Host::look(stage, &placement.cpus));
    }
    let setting = collected.setting(stage, target, ranks);
    let results = assemble::results(&setting, task, &collected.table);
    let mut exit = Exit::Fine;
    match results {
        Ok((results, warnings)) => {
            exit = worse(exit, sink.add_all(results)?);
            for warning in warnings {
                exit = worse(exit, Exit::Findings);
                sink.warn(&warning);
            }
        }
        Err(reason) => {
            exit = Exit::Findings;
            sink.warn(&format!("too little was measured to fit: {reason}"));
            if !collected.table.is_empty() {
                sink.add(assemble::unfitted(&setting, &collected.table, &reason))?;
            }
        }
    }
    note_conditions(&collected, ranks, measure, sink);
    match &collected.ended {
        Ended::Done => Ok(exit),
        Ended::Interrupted => {
            sink.interrupted();
            Ok(Exit::Interrupted)
        }
        Ended::Failed(failure) => {
            sink.failed(&format!("rank {}: {}", failure.rank, failure.what));
            Ok(failure.exit)
        }
    }
}

/// Whether the round trips of all pairs are measured: not where there are so many that they would
/// take far longer than everything else.
pub fn all_pairs(ranks: usize, sink: &mut Sink) -> bool {
    if ranks > MOST_PAIRED {
        sink.warn(&format!(
            "round trips of all pairs are measured with up to {MOST_PAIRED} ranks, not with {ranks}"
        ));
    }
    (3..=MOST_PAIRED).contains(&ranks)
}

/// The graver of two outcomes; findings come before worse.
pub fn worse(a: Exit, b: Exit) -> Exit {
    if (b as u8) > (a as u8) { b } else { a }
}

fn note_conditions(collected: &Collected, ranks: usize, measure: &Measure, sink: &mut Sink) {
    if collected.placement.is_some() && measure.wait == Wait::Block {
        sink.warn("ranks sleep while they wait: placement states are not probed");
    }
    if let Some(placement) = &collected.placement
        && placement.oversubscribed
    {
        let mut cpus = placement.cpus.clone();
        cpus.sort_unstable();
        cpus.dedup();
        sink.warn(&format!(
            "oversubscribed: {ranks} ranks share {} processors, so waiting ranks yield and times \
             hold the scheduler's; placement states are not probed",
            cpus.len()
        ));
    }
}

/// What the options ask for, as a plan.
pub fn plan(stage: &Stage, measure: &Measure, pattern: SignaturePattern) -> SignaturePlan {
    SignaturePlan {
        precision: measure.precision.0,
        confidence: measure.confidence.0,
        budget: measure.budget().as_secs_f64(),
        samples: BATCH,
        seed: measure.seed,
        pattern,
        load: Load::Words,
        stamp: stamp(stage, measure),
    }
}

/// What the clock's stamps cost, in nanoseconds: nothing in virtual time.
pub(super) fn stamp(stage: &Stage, measure: &Measure) -> f64 {
    match measure.transport {
        Some(Target::Simulated(_)) => 0.0,
        _ => stage.clock.cost().0,
    }
}

/// The pattern asked for, and the ranks it needs at least.
fn pattern(signature: &Signature) -> (SignaturePattern, usize) {
    match signature {
        Signature { pairs: true, .. } => (SignaturePattern::Pairs, 2),
        Signature { fan_out: true, .. } => (SignaturePattern::FanOut, 2),
        Signature { fan_in: Some(most), .. } => {
            (SignaturePattern::OneToOne, most.saturating_add(1))
        }
        _ => (SignaturePattern::OneToOne, 2),
    }
}

fn ranks(measure: &Measure, least: usize, pattern: SignaturePattern) -> Result<usize, Failure> {
    let usage = |what: String| Err(Failure::new(Exit::Usage, what));
    let ranks = measure.ranks.unwrap_or(least);
    if least < 2 {
        return usage("fan in from 0 requesters: K is at least 1".to_owned());
    }
    if ranks < least {
        return usage(format!("measure with {ranks} ranks: this takes {least} at least"));
    }
    if pattern == SignaturePattern::Pairs && !ranks.is_multiple_of(2) {
        return usage(format!("pair {ranks} ranks: half against half takes an even number"));
    }
    Ok(ranks)
}

//! `bandgap` by itself: the signature on every transport of this machine, and one summary.

use crate::args::{Measure, Output};
use crate::command::signature::{all_pairs, one, plan, worse};
use crate::output::Sink;
use bandgap_campaign::Task;
use bandgap_campaign::signature::SignaturePattern;
use bandgap_launch::Exit;
use bandgap_launch::Failure;
use bandgap_launch::Stage;
use bandgap_launch::Target;
use bandgap_launch::Transport;

/// Measures on shm, tcp and unix, or on the transport that was named.
///
/// # Errors
/// Ranks could not be started, or results not be written.
pub fn run(measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let ranks = measure.ranks.unwrap_or(2);
    if ranks < 2 {
        return Err(Failure::new(Exit::Usage, "measure with fewer than 2 ranks"));
    }
    let mut sink = Sink::open(output, "run", measure)?;
    let stage = Stage::new()?;
    let task = Task::Signature {
        plan: plan(&stage, measure, SignaturePattern::OneToOne),
        pairs: all_pairs(ranks, &mut sink),
        fan_in: None,
    };
    sink.plan(&task);
    sink.summarise_at_end();
    let targets = measure
        .transport
        .clone()
        .map_or_else(|| Transport::COMPARED.map(Target::Real).to_vec(), |target| vec![target]);
    let mut exit = Exit::Fine;
    for target in targets {
        exit = worse(exit, one(&stage, &target, ranks, &task, measure, output, &mut sink)?);
        if exit as u8 > Exit::Findings as u8 {
            break;
        }
    }
    sink.close(exit)
}

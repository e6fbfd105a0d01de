//! `bandgap` by itself: the signature on the transports of this machine, and one summary.

use bandgap_campaign::logp::LogpPlan;
use bandgap_campaign::signature::SignaturePattern;
use bandgap_launch::{Exit, Failure, Target, Transport};

use super::measure::{Session, one_size};
use super::signature::{all_pairs, measure_logp, plan};
use crate::args::{Measure, Output};

/// Measures on the transports that are compared, or on the one that was named.
///
/// # Errors
/// Ranks could not be started, or results not be written.
pub fn run(measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let ranks = one_size(measure, 2)?;
    if ranks < 2 {
        return Err(Failure::new(Exit::Usage, "measure with fewer than 2 ranks"));
    }
    let mut session = Session::open("run", measure, output)?;
    let pairs = all_pairs(ranks);
    session.sink.summary = true;
    let compared = Transport::list().filter(|transport| transport.can.compared);
    let targets = match &measure.transport {
        Some(target) => vec![target.clone()],
        None => compared.map(Target::Real).collect(),
    };
    for target in targets {
        session.target = target;
        let signature = plan(session.asked(), SignaturePattern::OneToOne);
        measure_logp(&mut session, &LogpPlan { signature, pairs }, ranks)?;
        if session.failed() {
            break;
        }
    }
    session.close()
}

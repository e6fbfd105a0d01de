//! `bandgap signature`.

use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::fan_in::FanInPlan;
use bandgap_campaign::signature::{SignaturePattern, SignaturePlan};
use bandgap_launch::{Exit, Result, usage};
use clap::Args;

use crate::args::Measure;
use crate::session::{ALONE, Session};

/// Time for the command.
const USUAL: Duration = Duration::from_secs(15);

/// Who sends to whom in a signature.
#[derive(Clone, Debug, Args)]
pub struct Signature {
    /// Half of the ranks against the other half
    #[arg(long, group = "pattern")]
    pub pairs: bool,
    /// One rank to all others
    #[arg(long, group = "pattern")]
    pub fan_out: bool,
    /// K ranks to one, for 1 to K: the gap under contention
    #[arg(long, group = "pattern", value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    pub fan_in: Option<u16>,
}

/// Measures, prints and keeps the signature.
///
/// # Errors
/// The measurement or the output failed.
pub fn run(signature: &Signature, measure: &Measure) -> Result<Exit> {
    let requesters = signature.fan_in.map(usize::from);
    let ranks = measure.one_size(requesters.map_or(2, |requesters| requesters + 1))?;
    if signature.pairs && !ranks.is_multiple_of(2) {
        return Err(usage!("pair {ranks} ranks: half against half needs an even number"));
    }
    let pattern = match signature {
        Signature { pairs: true, .. } => SignaturePattern::Pairs,
        Signature { fan_out: true, .. } => SignaturePattern::FanOut,
        _ => SignaturePattern::OneToOne,
    };
    Session::each("signature", measure, USUAL, [("signature", 1.0)], |session| match requesters {
        Some(requesters) => {
            let plan = FanInPlan { asked: session.asked(), requesters };
            session.measure(&plan, ranks, ALONE, assemble::fan_in)
        }
        None => self::measure(session, pattern, ranks),
    })
}

/// Measures a signature.
///
/// # Errors
/// The measurement or the output failed.
pub fn measure(session: &mut Session<'_>, pattern: SignaturePattern, ranks: usize) -> Result<()> {
    let plan = SignaturePlan::new(session.asked(), pattern);
    // Refuse at once, rather than note a failure.
    session.check(&plan, ranks)?;
    session.measure(&plan, ranks, (&["signature"], &|_| plan.has_floors(ranks)), |measured| {
        assemble::logp(measured, &plan, None)
    })
}

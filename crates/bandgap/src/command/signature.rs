//! `bandgap signature`.

use bandgap_campaign::fan_in::FanInPlan;
use bandgap_campaign::load::Load;
use bandgap_campaign::logp::LogpPlan;
use bandgap_campaign::plan::Asked;
use bandgap_campaign::signature::{SignaturePattern, SignaturePlan};
use bandgap_launch::{Exit, Failure};
use bandgap_results::assemble;
use clap::Args;

use super::measure::{BATCH, Session, counted, one_size};
use crate::args::{Measure, Output};

/// Most ranks of which all pairs are measured: 2016 pairs.
const MOST_PAIRED: usize = 64;

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
    #[arg(long, group = "pattern", value_name = "K")]
    pub fan_in: Option<usize>,
}

/// Measures, prints and keeps the signature.
///
/// # Errors
/// It could not be measured, or not be written.
pub fn run(signature: &Signature, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let (pattern, least) = pattern(signature);
    let ranks = ranks(signature, measure, (pattern, least))?;
    let mut session = Session::open("signature", measure, output)?;
    let asked = session.asked();
    match signature.fan_in {
        Some(requesters) => {
            let plan = FanInPlan { asked, requesters };
            session.measure(&plan, ranks, |setting, table| {
                assemble::contention(setting, &plan.judge(table))
            })?;
        }
        None => {
            let pairs = all_pairs(ranks);
            let plan = LogpPlan { signature: plan(asked, pattern), pairs };
            measure_logp(&mut session, &plan, ranks)?;
        }
    }
    session.close()
}

/// Measures a signature, with the round trips of pairs where the plan asks for them.
pub(super) fn measure_logp(
    session: &mut Session<'_>,
    plan: &LogpPlan,
    ranks: usize,
) -> Result<(), Failure> {
    // What cannot be measured is refused, and not warned of.
    session.check(plan, ranks)?;
    if ranks > MOST_PAIRED {
        session.sink.warn_once(&format!(
            "round trips of all pairs are measured with up to {MOST_PAIRED} ranks, not with {ranks}"
        ));
    }
    session.measure_beside(
        &["signature"],
        |_| plan.signature.has_floors(ranks),
        plan,
        ranks,
        |setting, table| assemble::signature(setting, &plan.signature, table),
    )
}

/// Whether the round trips of all pairs are measured: not where there are so many that they would
/// take far longer than everything else.
pub(super) fn all_pairs(ranks: usize) -> bool {
    (3..=MOST_PAIRED).contains(&ranks)
}

/// A signature of small messages.
pub(super) fn plan(asked: Asked, pattern: SignaturePattern) -> SignaturePlan {
    SignaturePlan { asked, samples: BATCH, pattern, load: Load::Words }
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

/// The option that asks for the pattern.
fn named(signature: &Signature) -> String {
    match signature {
        Signature { pairs: true, .. } => "--pairs".to_owned(),
        Signature { fan_out: true, .. } => "--fan-out".to_owned(),
        Signature { fan_in: Some(requesters), .. } => format!("--fan-in {requesters}"),
        _ => "this".to_owned(),
    }
}

fn ranks(
    signature: &Signature,
    measure: &Measure,
    (pattern, least): (SignaturePattern, usize),
) -> Result<usize, Failure> {
    let usage = |what: String| Err(Failure::new(Exit::Usage, what));
    let ranks = one_size(measure, least)?;
    if least < 2 {
        return usage("fan in from 0 requesters: K is at least 1".to_owned());
    }
    if ranks < least {
        let ranks = counted(ranks, "rank");
        return usage(format!("measure with {ranks}: {} takes {least} at least", named(signature)));
    }
    if pattern == SignaturePattern::Pairs && !ranks.is_multiple_of(2) {
        return usage(format!("pair {ranks} ranks: half against half takes an even number"));
    }
    Ok(ranks)
}

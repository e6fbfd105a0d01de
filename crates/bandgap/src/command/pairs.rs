//! `bandgap pairs`.

use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::pairs::PairsPlan;
use bandgap_campaign::plan::BATCH;
use bandgap_host::parse_cpu_list;
use bandgap_launch::{Classify, Exit, Result, Target, simulated};
use clap::Args;

use super::run::moves_bytes;
use crate::args::Measure;
use crate::session::{ALONE, Session};

/// Bytes of the message whose time gives the bandwidth.
const LONG: usize = 1 << 20;
/// Default number of ranks of a simulated machine, if it has as many.
const SIMULATED: usize = 8;
/// Time for the command.
const USUAL: Duration = Duration::from_secs(15);

/// How to measure all pairs.
#[derive(Clone, Copy, Debug, Args)]
pub struct Rounds {
    /// All ranks work at once, two and two, in rounds; `--together=false`: one pair at a time [default: together between hosts,
    /// one at a time on one host, where pairs share caches]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub together: Option<bool>,
}

/// Measures, prints and keeps the round trips between all pairs of ranks.
///
/// # Errors
/// The measurement or the output failed.
pub fn run(rounds: Rounds, measure: &Measure) -> Result<Exit> {
    let mut session = Session::open("pairs", measure, USUAL, [("pairs", 1.0)])?;
    let all = match session.target.clone() {
        Target::Simulated(name) => simulated(&name)?.ranks.min(SIMULATED),
        Target::Real(transport) if measure.ranks.ranks.is_empty() => {
            let processors = match &measure.ranks.at.cores {
                Some(cores) => parse_cpu_list(cores).class(Exit::Usage)?,
                None => session.stage.topology.allowed_ids(),
            };
            processors.len().min(transport.can.ranks)
        }
        Target::Real(_) => 0,
    };
    let ranks = match &measure.ranks.ranks[..] {
        [] => all.max(2),
        _ => measure.one_size(2)?,
    };
    let bytes = moves_bytes(&session.target)?.then_some(LONG);
    let at_once = rounds.together.unwrap_or_else(|| {
        let agents = session.stage.agents();
        agents.iter().any(|agent| agent.host != agents[0].host)
    });
    let plan = PairsPlan { asked: session.asked(), samples: BATCH, bytes, at_once };
    session.measure(&plan, ranks, ALONE, assemble::pairs)?;
    session.close()
}

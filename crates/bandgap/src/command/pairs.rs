//! `bandgap pairs`.

use bandgap_campaign::pairs::PairsPlan;
use bandgap_host::parse_cpu_list;
use bandgap_launch::{Classify, Exit, Failure, Target, simulated};
use bandgap_results::assemble;

use super::measure::{BATCH, Session, one_size};
use crate::args::{Measure, Output};

/// Ranks of a simulated machine, where no number is named and it has as many.
const SIMULATED: usize = 8;

/// Measures, prints and keeps the round trips between all pairs of ranks.
///
/// # Errors
/// They could not be measured, or not be written.
pub fn run(measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let mut session = Session::open("pairs", measure, output)?;
    let all = match &session.target {
        Target::Simulated(name) => simulated(name)?.ranks.min(SIMULATED),
        Target::Real(transport) => {
            let processors = match &measure.cores {
                Some(cores) => parse_cpu_list(cores).class(Exit::Usage)?,
                None => session.stage.topology.allowed_ids(),
            };
            processors.len().min(transport.can.ranks)
        }
    };
    let ranks = one_size(measure, all.max(2))?;
    if ranks < 2 {
        return Err(Failure::new(Exit::Usage, "measure pairs of fewer than 2 ranks"));
    }
    let plan = PairsPlan { asked: session.asked(), samples: BATCH };
    session.measure(&plan, ranks, |setting, table| {
        assemble::pairs(setting, &plan.asked.judge(table))
    })?;
    session.close()
}

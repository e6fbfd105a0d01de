//! The LogP parameters of small messages: the signature, and where asked for the round trips of all
//! pairs of ranks.

use serde::{Deserialize, Serialize};

use crate::campaign::campaign;
use crate::pairs::PairsPlan;
use crate::plan::Plan;
use crate::planned::Planned;
use crate::runner::{Runner, Stop};
use crate::signature::SignaturePlan;

/// Time for the pairs, as a share of that for the signature. It comes on top.
const PAIRS_TIME: f64 = 0.25;

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogpPlan {
    /// The signature.
    pub signature: SignaturePlan,
    /// Whether the round trips of all pairs are measured too.
    pub pairs: bool,
}

impl Planned for LogpPlan {
    const NAME: &'static str = "logp";

    fn lead(&self, runner: &mut dyn Runner) -> Result<(), Stop> {
        let SignaturePlan { asked, samples, .. } = &self.signature;
        let end = if self.pairs { 1.0 / (1.0 + PAIRS_TIME) } else { 1.0 };
        self.signature.measure(runner, 0.0..end)?;
        if !self.pairs {
            return Ok(());
        }
        let asked = asked.within(PAIRS_TIME * asked.budget);
        let pairs = PairsPlan { asked, samples: *samples, bytes: None, at_once: false };
        let plan = Plan {
            progress: end..1.0,
            title: "round trips of pairs".to_owned(),
            floors: false,
            ..Plan::new(&pairs.asked)
        };
        campaign(runner, &mut &pairs, &plan)
    }

    #[cfg(test)]
    fn short(asked: &crate::plan::Asked) -> Self {
        let signature = SignaturePlan::short(asked, crate::load::Load::Words);
        Self { signature, pairs: true }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::machine::Params;
    use bandgap_comm::{Floor, Yields};

    use super::*;
    use crate::beside::Beside;
    use crate::pairs::PAIR_RTT;
    use crate::plan::Asked;
    use crate::tests::scripted::{Scripted, modelled};

    fn plan(pairs: bool) -> LogpPlan {
        LogpPlan { pairs, ..LogpPlan::short(&Asked::usual(100.0)) }
    }

    fn runner() -> Scripted {
        let mut runner = Scripted::new(|order| Ok(modelled(order, &Params::MYRINET)));
        runner.size = 3;
        runner
    }

    #[test]
    fn pairs_come_after_the_signature_with_a_quarter_of_its_time() {
        let mut runner = runner();
        plan(true).lead(&mut runner).unwrap();
        let pairs = runner.kept.iter().filter(|(key, _)| key.what() == PAIR_RTT);
        assert_eq!(pairs.map(|(_, batches)| batches.len()).collect::<Vec<_>>(), [8, 8, 8]);
        let begin = runner.said().find(|(_, doing)| doing.starts_with("round trips of pairs"));
        assert_eq!(begin, Some((0.8, "round trips of pairs, first look")));
        assert!(runner.said().map(|(done, _)| done).is_sorted());
    }

    #[test]
    fn floors_stand_beside_the_signature_and_not_beside_the_pairs() {
        let mut runner = runner();
        let floor = Floor::over_places("floor", "", Yields::HalfRoundTrip, 10, 64);
        runner.beside = vec![Beside { floor, results: Vec::new() }];
        plan(true).lead(&mut runner).unwrap();
        let batches = runner.kept.batches(&crate::bare::key("floor"));
        let rounds: BTreeSet<u32> = batches.iter().map(|batch| batch.round).collect();
        // Each campaign counts its rounds from 0.
        assert_eq!((batches.len(), rounds.len()), (8, 8));
    }

    #[test]
    fn pairs_that_do_not_converge_spend_their_time_and_no_more() {
        let mut runner = Scripted::new(|order| Ok(modelled(order, &Params::MYRINET)));
        runner.cost = 0.5;
        // Nothing ever converges.
        let mut plan = plan(true);
        plan.signature.asked.precision = 0.0;
        plan.lead(&mut runner).unwrap();
        // 25 s of two batches a second, the first of which is checked.
        let pairs = |key: &crate::key::Key| key.what() == PAIR_RTT;
        let timed: usize = runner.kept.part(pairs).iter().map(|(_, b)| b.len()).sum();
        assert_eq!(timed, 50);
    }
}

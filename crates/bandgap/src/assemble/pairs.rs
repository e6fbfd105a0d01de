//! The round trips between all pairs of ranks.

use bandgap_record::{Pair, RttPairs};

use super::AssembleError;
use super::estimated::estimated;
use crate::collect::{Collected, Stage};
use crate::measure::data::Key;
use crate::measure::judge::Judged;
use crate::target::Target;

/// The table of pairs; `None` where none was measured.
pub(super) fn rtt_pairs(
    stage: &Stage,
    judged: &Judged<'_>,
    target: &Target,
    collected: &Collected,
) -> Result<Option<RttPairs>, AssembleError> {
    let cpus = collected.placement.as_ref().map(|placement| placement.cpus.as_slice());
    let pairs: Vec<Pair> = collected
        .table
        .iter()
        .filter_map(|(key, _)| {
            let Key::PairRtt { requester, replier } = *key else { return None };
            let distance = cpus.and_then(|cpus| {
                stage.topology.distance(cpus[requester], cpus[replier]).map(|d| d.to_string())
            });
            Some(Pair {
                requester: requester as u32,
                replier: replier as u32,
                distance,
                rtt: estimated(judged, key, cpus.is_none())?,
            })
        })
        .collect();
    let by_time = |a: &&Pair, b: &&Pair| a.rtt.value.0.total_cmp(&b.rtt.value.0);
    let (Some(minimum), Some(maximum)) =
        (pairs.iter().min_by(by_time), pairs.iter().max_by(by_time))
    else {
        return Ok(None);
    };
    let (minimum, maximum) = (minimum.rtt.clone(), maximum.rtt.clone());
    Ok(Some(RttPairs { transport: target.to_string(), pairs, minimum, maximum }))
}

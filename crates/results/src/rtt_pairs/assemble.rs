//! The round trips between all pairs of ranks.

use bandgap_campaign::Setting;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::pairs::PAIR_RTT;

use super::{Pair, RttPairs};
use crate::measured::estimated;

/// The table of pairs; `None` where none was measured.
pub(crate) fn rtt_pairs(setting: &Setting, judged: &Judged<'_>) -> Option<RttPairs> {
    let pairs: Vec<Pair> = judged
        .table()
        .iter()
        .filter_map(|(key, _)| {
            let rank = |axis| key.number(axis).map(|rank| rank as usize);
            let (requester, replier) = (rank("requester")?, rank("replier")?);
            if key.what() != PAIR_RTT {
                return None;
            }
            let distance = setting.distance([requester, replier]);
            Some(Pair {
                requester: requester as u32,
                replier: replier as u32,
                distance,
                // Each pair has a distance of its own.
                rtt: estimated(&judged.seen_by(key), key, setting.is_virtual())?,
            })
        })
        .collect();
    let by_time = |a: &&Pair, b: &&Pair| a.rtt.value.0.total_cmp(&b.rtt.value.0);
    let minimum = pairs.iter().min_by(by_time)?.rtt.clone();
    let maximum = pairs.iter().max_by(by_time)?.rtt.clone();
    Some(RttPairs { transport: setting.transport.clone(), pairs, minimum, maximum })
}

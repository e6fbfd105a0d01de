//! The round trips between all pairs of ranks.

use bandgap_campaign::Setting;
use bandgap_campaign::judge::Judged;
use bandgap_campaign::pairs::PAIR_RTT;

use super::{Pair, RttPairs};
use crate::measured::{Launches, estimated, oversubscribed};

/// The table of pairs; `None` where none was measured.
pub(crate) fn rtt_pairs(setting: &Setting, judged: &Judged<'_>) -> Option<RttPairs> {
    let (mut measured, mut seen) = (Vec::new(), Vec::new());
    let pairs: Vec<Pair> = judged
        .table()
        .iter()
        .filter_map(|(key, batches)| {
            let rank = |axis| key.number(axis).map(|rank| rank as usize);
            let (requester, replier) = (rank("requester")?, rank("replier")?);
            if key.what() != PAIR_RTT {
                return None;
            }
            measured.extend(batches.iter().map(|batch| batch.launch));
            let distance = setting.distance([requester, replier]);
            // Each pair has a distance of its own.
            let judged = judged.seen_by(key);
            let rtt = estimated(&judged, key, setting.is_virtual())?;
            seen.push(judged.by_launch(key).into_keys().collect());
            Some(Pair { requester: requester as u32, replier: replier as u32, distance, rtt })
        })
        .collect();
    let by_time = |a: &&Pair, b: &&Pair| a.rtt.value.0.total_cmp(&b.rtt.value.0);
    let minimum = pairs.iter().min_by(by_time)?.rtt.clone();
    let maximum = pairs.iter().max_by(by_time)?.rtt.clone();
    let launches = Launches::of_points(setting.launches, measured, &seen);
    let Launches { lost, mut findings } = launches;
    if !setting.is_virtual() {
        let why =
            "Pairs are not compared with a floor: floors are measured between ranks 0 and 1 only.";
        findings.push(why.to_owned());
    }
    findings.extend(oversubscribed(setting));
    let transport = setting.transport.clone();
    Some(RttPairs { transport, lost_launches: lost, pairs, minimum, maximum, findings })
}

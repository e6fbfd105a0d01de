//! Round trips between all pairs of ranks, and which hosts or links are slow.

mod slow;

use std::collections::BTreeMap;

use bandgap_campaign::Key;
use bandgap_campaign::pairs::{AT_ONCE, PAIR_RTT, PAIR_TIME, Tolerance};
use bandgap_record::{Column, Form, Labels, Unit};
use bandgap_stats::Convergence;
use bandgap_stats::quantile::median;

use self::slow::slow;
use crate::estimate::{Estimated, Measured};
use crate::made::{Builder, Made, SERIES};
use crate::{AssembleError, Result};

/// The round trips of all measured pairs; of several hosts also the medians of each host's pairs. With a tolerance, notes
/// say which hosts or links are slow.
///
/// # Errors
/// No pair was measured, or a number cannot be recorded.
pub fn pairs(of: &Measured<'_>, tolerance: Option<&Tolerance>) -> Result<Made> {
    let table = &of.judged.table;
    let at_once = table.of(PAIR_RTT).filter_map(|(key, _)| key.number(AT_ONCE)).max();
    let meaning = match at_once {
        None => "round trip of a request and its reply",
        Some(_) => "round trip of a message of 8 bytes, while all other pairs of the round work",
    };
    // Repeated pairs are told apart by fewer at once.
    let is_first = |key: &&Key| key.number(AT_ONCE) == at_once;
    let long: Vec<&Key> = table.of(PAIR_TIME).map(|(key, _)| key).filter(is_first).collect();
    let mut columns = vec![Column::new("rtt", Unit::Second, meaning).counting()];
    if !long.is_empty() {
        let meaning = "bandwidth of long messages there and back: n/t";
        columns.push(Column::new("bandwidth", Unit::BytePerSecond, meaning));
    }
    let (hosts, transport) = (&of.setting.hosts, &of.setting.transport);
    let mut rows = Builder::new(SERIES, "pairs", transport, &["from", "to"], columns.clone());
    rows.rows.form = Form::Pairs;
    if let Some(at_once) = at_once {
        rows.label(AT_ONCE, at_once);
    }
    let mut by_host = BTreeMap::<&String, Vec<Vec<Option<Estimated>>>>::new();
    let mut known = 0;
    for key in table.of(PAIR_RTT).map(|(key, _)| key).filter(is_first) {
        let ranks = [key.number("requester"), key.number("replier")];
        let ([Some(from), Some(to)], Some(rtt)) = (ranks, of.time(key)) else { continue };
        let pair = [from as usize, to as usize];
        let mut labels = Labels::new();
        if let Some(distance) = of.setting.distance(pair) {
            labels.insert("distance".to_owned(), distance.as_str().into());
        }
        let ends = pair.map(|rank| hosts.get(rank));
        if let [Some(a), Some(b)] = ends {
            labels.insert("hosts".to_owned(), vec![a.clone(), b.clone()].into());
        }
        let spread = of.spread(key);
        let is_same =
            |other: &&&Key| ["requester", "replier"].map(|end| other.number(end)) == ranks;
        let bandwidth = long.iter().find(is_same).and_then(|key| {
            // There and back. Where the time varies by more than itself, its mean alone is known.
            let (time, moved) = (of.time(key)?, 2.0 * key.number("bytes")? as f64);
            let turned = |time: &Estimated| time.turned(moved, "bytes over time");
            turned(&time).or_else(|| turned(&Estimated { interval: None, ..time }))
        });
        let mut values = vec![Some(rtt)];
        values.extend((!long.is_empty()).then_some(bandwidth));
        known += values.iter().flatten().count();
        for host in ends.into_iter().flatten().filter(|_| ends[0] != ends[1]) {
            by_host.entry(host).or_default().push(values.clone());
        }
        rows.push(vec![from.into(), to.into()], labels, &values, spread)?;
    }
    if rows.rows.rows.is_empty() {
        return Err(AssembleError::Empty);
    }
    let all = of.setting.ranks * of.setting.ranks.saturating_sub(1) / 2 * columns.len();
    rows.count("points_missing", all.saturating_sub(known), all);
    let columns = columns.into_iter().map(|column| Column { counts: false, ..column }).collect();
    let mut medians = Builder::new(SERIES, "hosts", transport, &["host"], columns);
    medians.rows.form = Form::Details;
    let ids = [rows.rows.id(), medians.rows.id()];
    medians.notes = tolerance.map(|all| slow(of, all, &ids[0], &ids[1])).unwrap_or_default();
    for (host, all) in by_host {
        let values: Vec<_> = (0..medians.rows.columns.len())
            .map(|at| {
                let own = || all.iter().filter_map(|values| values[at].as_ref());
                let values: Vec<f64> = own().map(|of| of.value).collect();
                let sure = own().map(|of| of.convergence).find(|of| !of.is_enough());
                let sure = sure.unwrap_or(Convergence::Converged);
                let how = ("median over its pairs", values.len() as u64);
                (how.1 > 0).then(|| Estimated::new(median(&values), None, sure, how))
            })
            .collect();
        medians.push(vec![host.as_str().into()], Labels::new(), &values, None)?;
    }
    Ok(rows.made().and(medians.made()))
}

#[cfg(test)]
mod tests;

//! Round trips between all pairs of ranks, and which hosts or links are slow.

mod slow;

use std::collections::BTreeSet;

use bandgap_campaign::Key;
use bandgap_campaign::pairs::{AT_ONCE, PAIR_RTT, PAIR_TIME, Tolerance};
use bandgap_record::{Column, Form, Labels, Place, Quantity, Row, Unit};
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
    for key in table.of(PAIR_RTT).map(|(key, _)| key).filter(is_first) {
        let ranks = [key.number("requester"), key.number("replier")];
        let ([Some(from), Some(to)], Some(rtt)) = (ranks, of.time(key)) else { continue };
        let pair = [from as usize, to as usize];
        let mut labels = Labels::new();
        if let Some(distance) = of.setting.distance(pair) {
            labels.insert("distance".to_owned(), distance.as_str().into());
        }
        if let [Some(a), Some(b)] = pair.map(|rank| hosts.get(rank)) {
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
        rows.push(vec![from.into(), to.into()], labels, &values, spread)?;
    }
    if rows.rows.rows.is_empty() {
        return Err(AssembleError::Empty);
    }
    let all = of.setting.ranks * of.setting.ranks.saturating_sub(1) / 2 * columns.len();
    let known = rows.rows.rows.iter().flat_map(|row| &row.cells).flatten().count();
    rows.count("points_missing", all.saturating_sub(known), all);
    let columns: Vec<_> = columns.into_iter().map(|of| Column { counts: false, ..of }).collect();
    let mut medians = Builder::new(SERIES, "hosts", transport, &["host"], columns.clone());
    medians.rows.form = Form::Details;
    // On one host nothing is compared.
    let tolerance = tolerance.filter(|_| of.setting.is_virtual() || !hosts.is_empty());
    medians.notes =
        tolerance.map(|by| slow(of, by, [&rows.rows.id(), &medians.rows.id()])).unwrap_or_default();
    for host in hosts.iter().collect::<BTreeSet<_>>() {
        let own = rows.rows.rows.iter().filter(|row| {
            match row.labels.get("hosts").map_or(&[][..], Place::names) {
                [a, b] => a != b && [a, b].contains(&host),
                _ => false,
            }
        });
        let median = |(at, column): (usize, &Column)| -> Result<Option<Quantity>> {
            let own: Vec<&Quantity> =
                own.clone().filter_map(|row| row.cells[at].as_ref()).collect();
            let values: Vec<f64> = own.iter().map(|of| of.value.0).collect();
            let sure = own.iter().all(|of| of.converged);
            let how = ("median over its pairs", own.len() as u64, sure);
            let of = |values| Ok(Quantity::new(median(values), None, column.unit, how)?);
            (!own.is_empty()).then(|| of(&values)).transpose()
        };
        let cells = columns.iter().enumerate().map(median).collect::<Result<_>>()?;
        let place = vec![host.as_str().into()];
        medians.rows.rows.push(Row { place, cells, ..Row::default() });
    }
    Ok(rows.made().and(medians.made()))
}

#[cfg(test)]
mod tests;

//! Round trips between all pairs of ranks.

use bandgap_campaign::Key;
use bandgap_campaign::pairs::{AT_ONCE, PAIR_RTT, PAIR_TIME};
use bandgap_record::{Column, Form, Labels, Unit};

use crate::estimate::Measured;
use crate::made::{Builder, Made, SERIES};
use crate::{AssembleError, Result};

/// The round trips of all measured pairs.
///
/// # Errors
/// No pair was measured, or a number cannot be recorded.
pub fn pairs(of: &Measured<'_>) -> Result<Made> {
    let at_once = of.judged.table.of(PAIR_RTT).find_map(|(key, _)| key.number(AT_ONCE));
    let meaning = match at_once {
        None => "round trip of a request and its reply",
        Some(_) => "round trip of a message of 8 bytes, while all other pairs of the round work",
    };
    let long: Vec<_> = of.judged.table.of(PAIR_TIME).map(|(key, _)| key.clone()).collect();
    let mut columns = vec![Column::new("rtt", Unit::Second, meaning).counting()];
    if !long.is_empty() {
        let meaning = "bandwidth of long messages there and back: n/t";
        columns.push(Column::new("bandwidth", Unit::BytePerSecond, meaning));
    }
    let mut rows = Builder::new(SERIES, "pairs", &of.setting.transport, &["from", "to"], columns);
    rows.rows.form = Form::Pairs;
    if let Some(at_once) = at_once {
        rows.label(AT_ONCE, at_once);
    }
    for (key, _) in of.judged.table.of(PAIR_RTT) {
        let ranks = [key.number("requester"), key.number("replier")];
        let ([Some(from), Some(to)], Some(rtt)) = (ranks, of.time(key)) else { continue };
        let mut labels = Labels::new();
        if let Some(distance) = of.setting.distance([from as usize, to as usize]) {
            labels.insert("distance".to_owned(), distance.as_str().into());
        }
        if let [Some(a), Some(b)] = ranks.map(|rank| of.setting.hosts.get(rank? as usize)) {
            labels.insert("hosts".to_owned(), vec![a.clone(), b.clone()].into());
        }
        let spread = of.spread(key);
        let is_same = |other: &&Key| ["requester", "replier"].map(|end| other.number(end)) == ranks;
        let bandwidth = long.iter().find(is_same).and_then(|key| {
            // There and back.
            of.time(key)?.turned(2.0 * key.number("bytes")? as f64, "bytes over time")
        });
        let mut values = vec![Some(rtt)];
        values.extend((!long.is_empty()).then_some(bandwidth));
        rows.push(vec![from.into(), to.into()], labels, &values, spread)?;
    }
    if rows.rows.rows.is_empty() { Err(AssembleError::Empty) } else { Ok(rows.made()) }
}

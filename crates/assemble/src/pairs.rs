//! Round trips between all pairs of ranks.

use bandgap_campaign::pairs::PAIR_RTT;
use bandgap_record::{Column, Labels, Unit};

use crate::AssembleError;
use crate::estimate::Measured;
use crate::made::{Builder, Made, SERIES};

/// The round trips of all pairs that were measured.
///
/// # Errors
/// None was, or a number cannot be recorded.
pub fn pairs(of: &Measured<'_>) -> Result<Made, AssembleError> {
    let columns =
        vec![Column::new("rtt", Unit::Second, "round trip of a request and its reply").counting()];
    let transport = of.setting.transport.as_str();
    let mut rows = Builder::new(SERIES, "pairs", transport, &["from", "to"], columns);
    for (key, _) in of.judged.table.of(PAIR_RTT) {
        let ranks = [key.number("requester"), key.number("replier")];
        let ([Some(from), Some(to)], Some(rtt)) = (ranks, of.time(key)) else { continue };
        let mut labels = Labels::new();
        if let Some(distance) = of.setting.distance([from as usize, to as usize]) {
            labels.insert("distance".to_owned(), distance.as_str().into());
        }
        let spread = of.spread(key);
        rows.push(vec![from.into(), to.into()], labels, &[Some(rtt)], spread)?;
    }
    if rows.rows().rows.is_empty() { Err(AssembleError::Empty) } else { Ok(rows.made()) }
}

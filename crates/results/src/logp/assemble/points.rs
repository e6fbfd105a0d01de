//! The measured points of a signature, with all their batches.

use bandgap_campaign::data::Table;
use bandgap_campaign::judge::{Judged, delayed};
use bandgap_campaign::signature::{ISSUE, RTT};
use bandgap_record::{Measure, Unit};
use bandgap_units::Ns;

use crate::error::AssembleError;
use crate::logp::schema::Point;
use crate::measured::Timed;

/// Every point of one signature that has a batch which counts.
pub(super) fn points(
    judged: &Judged<'_>,
    table: &Table,
    virtual_time: bool,
    confidence: f64,
) -> Result<Vec<Point>, AssembleError> {
    let mut points = Vec::new();
    for (key, _) in table.iter() {
        let (measure, messages, delay) = match (key.what(), delayed(key)) {
            (ISSUE, Some((messages, delay_ps))) => {
                (Measure::Issue, messages, judged.delay(delay_ps))
            }
            (RTT, _) => (Measure::Rtt, 1, 0.0),
            _ => continue,
        };
        let timed = Timed::of(judged, table, key, virtual_time, confidence)?;
        let Some(Timed { time, converged, summary, batches }) = timed else { continue };
        points.push(Point {
            measure,
            messages,
            delay: Ns(delay).into(),
            cost: time.per(messages as f64, Unit::Second)?,
            elapsed: time.recorded(Unit::Second)?,
            batches,
            converged,
            summary,
        });
    }
    Ok(points)
}

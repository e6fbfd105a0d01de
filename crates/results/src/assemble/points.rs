//! The measured points of a signature, with all their batches.

use bandgap_record::{Batch as RecordedBatch, Measure, Point, Seconds};
use bandgap_units::Ns;

use super::estimated::Estimated;
use super::summary::summary;
use super::{AssembleError, states};
use bandgap_campaign::data::{Batch, Table};
use bandgap_campaign::judge::{Judged, delayed};
use bandgap_campaign::signature::{ISSUE, RTT};

/// Every point of one signature that has a batch which counts.
pub(super) fn points(
    judged: &Judged<'_>,
    table: &Table,
    virtual_time: bool,
    confidence: f64,
) -> Result<Vec<Point>, AssembleError> {
    let mut points = Vec::new();
    for (key, batches) in table.iter() {
        let (measure, messages, delay) = match (key.what(), delayed(key)) {
            (ISSUE, Some((messages, delay_ps))) => {
                (Measure::Issue, messages, judged.delay(delay_ps))
            }
            (RTT, _) => (Measure::Rtt, 1, 0.0),
            _ => continue,
        };
        let values = judged.values(key);
        let Some(&first) = values.first() else { continue };
        let converged = virtual_time || judged.converged(key);
        let time = judged.point(key).map_or_else(
            || Estimated::single(first, converged),
            |point| Estimated::new(&point, converged),
        );
        let counted: Vec<f64> = batches
            .iter()
            .filter(|batch| judged.counts(batch))
            .flat_map(|batch| batch.samples.iter().copied())
            .collect();
        points.push(Point {
            measure,
            messages,
            delay: Ns(delay).into(),
            cost: time.per(messages as f64)?,
            elapsed: time.per(1.0)?,
            batches: batches.iter().map(|batch| recorded(batch, judged, virtual_time)).collect(),
            converged,
            summary: summary(&counted, confidence)?,
        });
    }
    Ok(points)
}

pub(super) fn recorded(batch: &Batch, judged: &Judged<'_>, virtual_time: bool) -> RecordedBatch {
    let state = if virtual_time || judged.states().states().is_empty() {
        states::only().label
    } else {
        judged.name(judged.state(batch)).unwrap_or_else(|| "unknown".to_owned())
    };
    RecordedBatch {
        samples: batch.samples.iter().map(|ns| round(*ns)).collect(),
        state,
        probe: batch.probe.map(|probe| probe.map(|probe| round(probe.cache_line))),
        pace: batch.probe.map(|probe| probe.map(|probe| round(probe.pace))),
        delay: batch.delay.map(round),
        launch: batch.launch,
        rejected: batch.rejected.clone(),
    }
}

/// A time to the picosecond: the clock tells no more.
fn round(ns: f64) -> Seconds {
    Seconds::from(Ns((ns * 1e3).round() / 1e3))
}

//! The points of a signature, measured or from a table.

use bandgap_campaign::judge::Judged;
use bandgap_model::{Kind, Observation};
use bandgap_record::{Convergence, Unit};
use bandgap_stats::Rule;
use bandgap_units::Ns;

use crate::error::AssembleError;
use crate::logp::schema::Point;
use crate::measured::{Estimated, Summary, Timed, estimator};

/// Every point of one signature that has a batch which counts, with all its batches.
pub(super) fn measured(
    judged: &Judged<'_>,
    virtual_time: bool,
) -> Result<Vec<Point>, AssembleError> {
    let mut points = Vec::new();
    for (key, _) in judged.table().iter() {
        let Some((kind, messages, delay)) = judged.observed(key) else { continue };
        if let Some(timed) = Timed::of(judged, key, virtual_time)? {
            points.push(point(kind, messages, delay, timed)?);
        }
    }
    Ok(points)
}

/// The points of a table, of which there are no batches to keep.
pub(super) fn tabled(
    observations: &[Observation],
    rule: Rule,
    confidence: f64,
) -> Result<Vec<Point>, AssembleError> {
    let mut points = Vec::new();
    for Observation { kind, messages, delay, batches, rounds } in observations {
        let found = match rounds.len() == batches.len() {
            true => {
                let batches: Vec<_> = rounds.iter().copied().zip(batches.iter().copied()).collect();
                bandgap_stats::Point::in_rounds(&batches, confidence)
            }
            false => bandgap_stats::Point::of(batches, confidence),
        };
        let Some(found) = found else { continue };
        let convergence = rule.judge_given(&found);
        let time = Estimated::new(&found, estimator(&found), convergence);
        let summary = Summary::of(batches, confidence, rule)?;
        let timed = Timed { time, convergence, summary, batches: Vec::new() };
        points.push(point(*kind, *messages, *delay, timed)?);
    }
    Ok(points)
}

/// A point whose Δ is `delay` nanoseconds.
fn point(measure: Kind, messages: u64, delay: f64, timed: Timed) -> Result<Point, AssembleError> {
    let Timed { time, convergence, summary, batches } = timed;
    Ok(Point {
        measure,
        messages,
        delay: Ns(delay).into(),
        cost: time.per(messages as f64, Unit::Second)?,
        elapsed: time.recorded(Unit::Second)?,
        batches,
        converged: convergence == Convergence::Converged,
        clock_limited: convergence == Convergence::ClockLimited,
        summary,
    })
}

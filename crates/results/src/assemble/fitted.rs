//! The record of a signature fitted to a table that somebody else measured.

use bandgap_model::{Kind, Observation, Signature};
use bandgap_record::{Logp, Measure, Outcome, Pattern, Point};
use bandgap_units::Ns;

use super::estimated::Estimated;
use super::summary::summary;
use super::{AssembleError, findings, parameters, shape, states};

/// A signature fitted to a table that somebody else measured.
///
/// # Errors
/// A number cannot be recorded.
pub fn fitted(
    observations: &[Observation],
    signature: &Signature,
    precision: f64,
    confidence: f64,
) -> Result<Outcome, AssembleError> {
    let mut points = Vec::new();
    for observation in observations {
        let estimated = bandgap_stats::Point::of(&observation.batches, confidence);
        let Some(point) = estimated else { continue };
        let converged = point.converged(precision);
        let time = Estimated::new(&point, converged);
        points.push(Point {
            measure: match observation.kind {
                Kind::Issue => Measure::Issue,
                Kind::Rtt => Measure::Rtt,
            },
            messages: observation.messages,
            delay: Ns(observation.delay).into(),
            cost: time.per(observation.messages as f64)?,
            elapsed: time.per(1.0)?,
            batches: Vec::new(),
            converged,
            summary: summary(&observation.batches, confidence)?,
        });
    }
    Ok(Outcome::Logp(Box::new(Logp {
        name: "signature".to_owned(),
        operation: None,
        bytes: None,
        transport: "table".to_owned(),
        ranks: 2,
        pattern: Pattern::OneToOne,
        pair: None,
        cores: None,
        distance: None,
        launches: 1,
        state: states::only(),
        parameters: parameters::parameters(signature, precision)?,
        regime: shape::regime(signature),
        transition: Some(shape::transition(signature)),
        arm: shape::arm(&signature.arm)?,
        floor_ratios: Vec::new(),
        points,
        lines: shape::lines(signature)?,
        other_states: Vec::new(),
        findings: findings::of_signature(signature),
    })))
}

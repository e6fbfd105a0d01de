//! The record of a signature fitted to a table that somebody else measured.

use bandgap_campaign::load::Load;
use bandgap_model::{Kind, Observation, Signature};
use bandgap_record::{Measure, Unit};
use bandgap_units::Ns;

use super::{findings, parameters, shape};
use crate::error::AssembleError;
use crate::logp::schema::{Logp, Point};
use crate::measured::{ESTIMATOR, Estimated, Pattern, State, Summary, TABLE};

/// A signature fitted to a table that somebody else measured.
///
/// # Errors
/// A number cannot be recorded.
pub fn fitted(
    observations: &[Observation],
    signature: &Signature,
    precision: f64,
    confidence: f64,
) -> Result<Logp, AssembleError> {
    let mut points = Vec::new();
    for observation in observations {
        let estimated = bandgap_stats::Point::of(&observation.batches, confidence);
        let Some(point) = estimated else { continue };
        let converged = point.converged(precision);
        let time = Estimated::new(&point, ESTIMATOR, converged);
        points.push(Point {
            measure: match observation.kind {
                Kind::Issue => Measure::Issue,
                Kind::Rtt => Measure::Rtt,
            },
            messages: observation.messages,
            delay: Ns(observation.delay).into(),
            cost: time.per(observation.messages as f64, Unit::Second)?,
            elapsed: time.recorded(Unit::Second)?,
            batches: Vec::new(),
            converged,
            summary: Summary::of(&observation.batches, confidence)?,
        });
    }
    Ok(Logp {
        name: "signature".to_owned(),
        operation: None,
        bytes: None,
        transport: TABLE.to_owned(),
        ranks: 2,
        pattern: Pattern::OneToOne,
        pair: None,
        cores: None,
        distance: None,
        launches: 1,
        state: State::only(),
        parameters: parameters::parameters(signature, precision, Load::Words)?,
        regime: signature.regime,
        transition: Some(shape::transition(signature)),
        arm: shape::arm(&signature.arm)?,
        floor_ratios: Vec::new(),
        points,
        lines: shape::lines(signature)?,
        other_states: Vec::new(),
        findings: findings::of_signature(signature),
    })
}

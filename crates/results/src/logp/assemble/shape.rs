//! The shape of a signature as it is recorded: its transition, the far arm, the lines.

use bandgap_model::Signature;
use bandgap_model::signature::{FarArm, IssueLine};
use bandgap_record::{Evidence, Number, Quantity, RecordError, Unit};
use bandgap_units::Ns;

use crate::logp::schema::{Arm, Line, Transition};
use crate::measured::recorded;

pub(super) fn transition(signature: &Signature) -> Transition {
    let found = signature.transition;
    Transition { messages: Number(found.messages), cause: found.cause }
}

pub(super) fn arm(arm: &FarArm) -> Result<Option<Arm>, RecordError> {
    let Some(slope) = &arm.slope else { return Ok(None) };
    Ok(Some(Arm {
        slope: recorded(slope, Unit::One, arm.holds)?,
        from_delay: Ns(arm.from_delay).into(),
        holds: arm.holds,
    }))
}

/// The fitted lines of elapsed time over messages.
pub(super) fn lines(signature: &Signature) -> Result<Vec<Line>, RecordError> {
    let line = |name: &str, delay: f64, line: &IssueLine| {
        let plain =
            |value: f64| Quantity::time(Ns(value), None, Evidence::new("least squares", 0, true));
        Ok(Line {
            name: name.to_owned(),
            delay: Ns(delay).into(),
            intercept: plain(line.intercept)?,
            slope: plain(line.slope)?,
            from: line.from_messages,
            to: line.to_messages,
        })
    };
    let steady = signature.steady.iter().map(|steady| line("gap", steady.delay, &steady.line));
    std::iter::once(line("send_overhead", 0.0, &signature.send_only)).chain(steady).collect()
}

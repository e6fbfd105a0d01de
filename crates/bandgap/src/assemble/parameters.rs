//! The model's parameters as recorded quantities, with their verdicts.

use bandgap_model::{Estimate, Signature};
use bandgap_record::{Evidence, Parameters, Quantity, RecordError};
use bandgap_units::Ns;

use crate::measure::judge::within;

/// The parameters with their verdicts. L and the idle time may be near zero, so their interval is
/// judged against what they are a part of: half the round trip, and the gap.
pub(super) fn parameters(signature: &Signature, precision: f64) -> Result<Parameters, RecordError> {
    let direct = |estimate: &Estimate| time(estimate, within(estimate, precision)).map(Some);
    let part = |estimate: &Estimate, whole: f64| {
        let converged = (estimate.high - estimate.low) / 2.0 <= precision * whole.abs();
        time(estimate, converged).map(Some)
    };
    Ok(Parameters {
        send_overhead: direct(&signature.send_overhead)?,
        recv_overhead: direct(&signature.recv_overhead)?,
        gap: direct(&signature.gap)?,
        latency: part(&signature.latency, signature.rtt.value / 2.0)?,
        rtt: direct(&signature.rtt)?,
        idle: part(&signature.idle, signature.gap.value)?,
        capacity: signature
            .capacity
            .as_ref()
            .map(|capacity| number(capacity, within(capacity, precision)))
            .transpose()?,
    })
}

fn time(estimate: &Estimate, converged: bool) -> Result<Quantity, RecordError> {
    Quantity::time(
        Ns(estimate.value),
        Some((Ns(estimate.low), Ns(estimate.high))),
        Evidence::new(estimate.estimator, estimate.samples as u64, converged),
    )
}

/// An estimate without unit.
pub(super) fn number(estimate: &Estimate, converged: bool) -> Result<Quantity, RecordError> {
    Quantity::number(
        estimate.value,
        Some((estimate.low, estimate.high)),
        Evidence::new(estimate.estimator, estimate.samples as u64, converged),
    )
}

//! The model's parameters as recorded quantities, with their verdicts.

use bandgap_model::{Estimate, Signature};
use bandgap_record::{Evidence, Parameters, Quantity, RecordError};
use bandgap_units::Ns;

use bandgap_campaign::judge::{overheads, part_within, within};
use bandgap_campaign::load::Load;

/// The parameters of small messages with their verdicts.
pub(super) fn parameters(signature: &Signature, precision: f64) -> Result<Parameters, RecordError> {
    parameters_of(signature, precision, Load::Words)
}

/// The parameters with their verdicts. L and the idle time may be near zero, so their interval is
/// judged against what they are a part of: half the round trip, and the gap; the or of transfers
/// likewise against os + or.
pub(super) fn parameters_of(
    signature: &Signature,
    precision: f64,
    load: Load,
) -> Result<Parameters, RecordError> {
    let direct = |estimate: &Estimate| time(estimate, within(estimate, precision)).map(Some);
    let part = |estimate: &Estimate, whole: f64| {
        time(estimate, part_within(estimate, whole, precision)).map(Some)
    };
    Ok(Parameters {
        send_overhead: direct(&signature.send_overhead)?,
        recv_overhead: part(&signature.recv_overhead, overheads(signature, load))?,
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

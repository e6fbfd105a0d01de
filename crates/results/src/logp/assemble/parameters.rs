//! The model's parameters as recorded quantities, with their verdicts.

use bandgap_campaign::load::Load;
use bandgap_campaign::signature::{overheads, part_within, within};
use bandgap_model::{Estimate, Signature};
use bandgap_record::{RecordError, Unit};

use crate::logp::schema::Parameters;
use crate::measured::recorded;

/// The parameters with their verdicts. L and the idle time may be near zero, so their interval is
/// judged against what they are a part of: half the round trip, and the gap; the or of transfers
/// likewise against os + or.
pub(super) fn parameters(
    signature: &Signature,
    precision: f64,
    load: Load,
) -> Result<Parameters, RecordError> {
    let part = |estimate: &Estimate, whole: f64| {
        recorded(estimate, Unit::Second, part_within(estimate, whole, precision)).map(Some)
    };
    let direct = |estimate: &Estimate| part(estimate, estimate.value);
    let capacity = signature.capacity.as_ref();
    Ok(Parameters {
        send_overhead: direct(&signature.send_overhead)?,
        recv_overhead: part(&signature.recv_overhead, overheads(signature, load))?,
        gap: direct(&signature.gap)?,
        latency: part(&signature.latency, signature.rtt.value / 2.0)?,
        rtt: direct(&signature.rtt)?,
        idle: part(&signature.idle, signature.gap.value)?,
        capacity: capacity
            .map(|capacity| recorded(capacity, Unit::One, within(capacity, precision)))
            .transpose()?,
    })
}

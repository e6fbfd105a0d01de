//! What follows from a signature's parameters.

use super::{Cause, Estimate, Regime, Signature, Transition};
use crate::finding::Finding;

impl Estimate {
    /// This idle time where there is none: 0, with what was seen as the upper end.
    pub(super) fn as_none(self) -> Estimate {
        Estimate { value: 0.0, low: 0.0, high: self.high.max(0.0), ..self }
    }
}

impl Transition {
    /// At RTT/os messages, or at the capacity if that is less; `None` where os is not above 0 and
    /// there is no capacity, so that nothing ends it.
    pub(super) fn of(
        send_overhead: &Estimate,
        rtt: &Estimate,
        capacity: Option<&Estimate>,
    ) -> Option<Transition> {
        let os = send_overhead.value;
        let replies = (os > 0.0).then(|| rtt.value / os);
        match (capacity, replies) {
            (Some(capacity), replies) if replies.is_none_or(|replies| capacity.value < replies) => {
                Some(Transition { messages: capacity.value, cause: Cause::Capacity })
            }
            (_, replies) => {
                replies.map(|messages| Transition { messages, cause: Cause::RoundTrip })
            }
        }
    }
}

impl Signature {
    /// The same with the transition and the findings that its parameters give.
    pub(super) fn with_consequences(mut self) -> Signature {
        self.transition = Transition::of(&self.send_overhead, &self.rtt, self.capacity.as_ref());
        self.findings = findings(&self);
        self
    }
}

/// The findings with those of parameters made anew; the others, of arm and lines, stay.
fn findings(signature: &Signature) -> Vec<Finding> {
    let Signature { send_overhead, gap, latency, idle, capacity, regime, .. } = signature;
    let processor_bound = *regime == Regime::ProcessorBound;
    let of_times = [
        processor_bound.then_some(Finding::ProcessorBound { gap: gap.value }),
        (latency.value < 0.0).then_some(Finding::NegativeLatency {
            latency: latency.value,
            low: latency.low,
            high: latency.high,
        }),
        (!processor_bound && idle.high < 0.0)
            .then_some(Finding::OverheadsOverlap { idle: idle.value }),
        (send_overhead.low <= 0.0)
            .then_some(Finding::SendOverheadUnresolved { send_overhead: send_overhead.value }),
    ];
    let kept = signature.findings.iter().filter_map(|finding| match *finding {
        Finding::ProcessorBound { .. }
        | Finding::NegativeLatency { .. }
        | Finding::OverheadsOverlap { .. }
        | Finding::SendOverheadUnresolved { .. }
        | Finding::CapacityUnseen => None,
        Finding::ArmBeginsLate { from_delay, .. } => {
            Some(Finding::ArmBeginsLate { knee: idle.value.max(0.0), from_delay, gap: gap.value })
        }
        Finding::ArmSlope { .. }
        | Finding::ArmUnchecked { .. }
        | Finding::FewSendOnly
        | Finding::SendOnlyUnseen { .. }
        | Finding::GapUnsettled { .. }
        | Finding::Unsettled { .. }
        | Finding::CurveTooShort { .. } => Some(*finding),
    });
    let unseen = capacity.is_none().then_some(Finding::CapacityUnseen);
    of_times.into_iter().flatten().chain(kept).chain(unseen).collect()
}

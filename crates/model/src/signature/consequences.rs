//! What follows from a signature's parameters.

use super::{Cause, Estimate, Regime, Signature, Transition};
use crate::finding::Finding;

/// An idle time is none within this share of the gap.
const IDLE_TOLERANCE: f64 = 0.05;

/// Of the round trip, what arithmetic may take from a time of 0.
const ROUNDING: f64 = 1e-9;

impl Regime {
    /// What an idle time says beside the cost at Δ = 0. Where it is none, the processor limits the
    /// rate if `is_arm`: if the arm of slope 1 begins at Δ = 0.
    pub(super) fn of(idle: &Estimate, cost: f64, is_arm: bool) -> Regime {
        let none = IDLE_TOLERANCE * cost;
        if idle.low > none {
            Regime::NetworkBound
        } else if idle.high < -none {
            Regime::Overlapped
        } else if idle.low >= -none && idle.high <= none && is_arm {
            Regime::ProcessorBound
        } else {
            Regime::Undecided
        }
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
        let is_unseen = |finding: &Finding| matches!(finding, Finding::SendOnlyUnseen { .. });
        // A regime that was not seen has no end.
        self.transition = match self.findings.iter().any(is_unseen) {
            true => None,
            false => Transition::of(&self.send_overhead, &self.rtt, self.capacity.as_ref()),
        };
        let cut = self.cut_capacity();
        self.findings = findings(&self);
        self.findings.extend(cut);
        self
    }

    /// The interval of the capacity as it was before it was cut off.
    pub(super) fn uncut_capacity(&self) -> Option<Estimate> {
        let cut = self.findings.iter().find_map(|finding| match finding {
            Finding::CapacityCut { low } => Some(*low),
            _ => None,
        });
        self.capacity.map(|capacity| Estimate { low: cut.unwrap_or(capacity.low), ..capacity })
    }

    /// Cuts the interval of the capacity off at 0, since it counts requests, and says so.
    fn cut_capacity(&mut self) -> Option<Finding> {
        let capacity = self.capacity.as_mut().filter(|capacity| capacity.low <= 0.0)?;
        let low = std::mem::replace(&mut capacity.low, 0.0);
        let is_cut = |finding: &&Finding| matches!(finding, Finding::CapacityCut { .. });
        // It may be cut already.
        let before = || self.findings.iter().find(is_cut).copied();
        if low < 0.0 { Some(Finding::CapacityCut { low }) } else { before() }
    }
}

/// The findings with those of parameters made anew; the others, of arm and lines, stay.
fn findings(signature: &Signature) -> Vec<Finding> {
    let Signature { send_overhead, gap, latency, idle, capacity, regime, .. } = signature;
    let Estimate { value, low, high, .. } = *idle;
    let of_regime = match regime {
        Regime::NetworkBound => None,
        Regime::ProcessorBound => Some(Finding::ProcessorBound { gap: gap.value }),
        Regime::Overlapped => Some(Finding::OverheadsOverlap { idle: value }),
        Regime::Undecided => Some(Finding::RegimeUndecided { idle: value, low, high }),
    };
    let of_times = [
        of_regime,
        (latency.value < 0.0).then_some(Finding::NegativeLatency {
            latency: latency.value,
            low: latency.low,
            high: latency.high,
        }),
        (send_overhead.low <= 0.0)
            .then_some(Finding::SendOverheadUnresolved { send_overhead: send_overhead.value }),
    ];
    // An or that is below 0 with its whole interval is something else than noise. In exact times rounding is none.
    let below = |name, of: &Estimate| {
        let Estimate { value, low, high, .. } = *of;
        let is_undecided = low < -ROUNDING * signature.rtt.value && high >= 0.0;
        is_undecided.then_some(Finding::BelowZero { name, value, low, high })
    };
    let below = [below("or", &signature.recv_overhead), below("g", gap)];
    let kept = signature.findings.iter().copied().filter_map(|mut finding| match &mut finding {
        Finding::ProcessorBound { .. }
        | Finding::NegativeLatency { .. }
        | Finding::OverheadsOverlap { .. }
        | Finding::RegimeUndecided { .. }
        | Finding::SendOverheadUnresolved { .. }
        | Finding::BelowZero { .. }
        | Finding::CapacityCut { .. }
        | Finding::CapacityUnseen => None,
        Finding::ArmBeginsLate { knee, gap: of_gap, .. } => {
            (*knee, *of_gap) = (idle.value.max(0.0), gap.value);
            Some(finding)
        }
        Finding::NearArm { far_overheads, .. } => {
            *far_overheads = signature.arm.overheads.value;
            Some(finding)
        }
        Finding::ArmSlope { .. }
        | Finding::DelayCosts { .. }
        | Finding::ArmUnchecked { .. }
        | Finding::ArmUndecided { .. }
        | Finding::FewSendOnly
        | Finding::SendOnlyBends { .. }
        | Finding::SendOnlyUnseen { .. }
        | Finding::GapUnsettled { .. }
        | Finding::Unsettled { .. }
        | Finding::CurveTooShort { .. } => Some(finding),
    });
    let unseen = capacity.is_none().then_some(Finding::CapacityUnseen);
    of_times.into_iter().chain(below).flatten().chain(kept).chain(unseen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_time_is_none_where_its_interval_lies_within_the_tolerance() {
        let of = |low: f64, high: f64, is_arm| {
            let value = f64::midpoint(low, high);
            Regime::of(&Estimate { value, low, high, samples: 9, estimator: "" }, 100.0, is_arm)
        };
        assert_eq!(of(-4.9, 4.9, true), Regime::ProcessorBound);
        // Noise confirms nothing, and an arm that begins later is no processor's.
        assert_eq!(of(-5.1, 4.9, true), Regime::Undecided);
        assert_eq!(of(-40.0, 40.0, true), Regime::Undecided);
        assert_eq!(of(-4.9, 4.9, false), Regime::Undecided);
        assert_eq!(
            [of(5.1, 9.0, true), of(4.9, 9.0, true)],
            [Regime::NetworkBound, Regime::Undecided]
        );
        assert_eq!(
            [of(-9.0, -5.1, true), of(-9.0, -4.9, true)],
            [Regime::Overlapped, Regime::Undecided]
        );
    }
}

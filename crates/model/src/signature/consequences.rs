//! What follows from a signature's parameters.

use super::{Cause, Estimate, Regime, SEND_ONLY_UNSEEN, Signature, Transition};

/// An idle time within this share of the gap counts as none.
const IDLE_TOLERANCE: f64 = 0.05;

impl Regime {
    /// The regime, from the idle time and the cost at Δ = 0. If there is no idle time, the
    /// processor limits the rate if `is_arm`, that is, if the arm of slope 1 begins at Δ = 0.
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
    /// At RTT/os messages, or at the capacity if that is less; `None` if os is not above 0 and
    /// there is no capacity, so that nothing ends the regime.
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
    /// Adds the transition that the parameters give. The capacity counts requests, so its interval
    /// is cut at 0.
    pub(super) fn with_consequences(mut self) -> Signature {
        // A regime that was not observed has no end.
        self.transition = match self.findings.iter().any(|of| of.code == SEND_ONLY_UNSEEN) {
            true => None,
            false => Transition::of(&self.send_overhead, &self.rtt, self.capacity.as_ref()),
        };
        if let Some(capacity) = &mut self.capacity {
            capacity.low = capacity.low.max(0.0);
        }
        self
    }
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

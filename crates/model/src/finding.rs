//! Where the assumptions behind a signature do not hold, or are not checked.

use std::fmt;

use bandgap_units::Ns;

/// One finding; its `Display` is a sentence. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// L is negative.
    NegativeLatency {
        /// L and its interval.
        latency: f64,
        /// Lower end of L's interval.
        low: f64,
        /// Upper end of L's interval.
        high: f64,
    },
    /// The right arm does not rise with slope 1.
    ArmSlope {
        /// The slope found.
        slope: f64,
        /// or was still read from this delay on.
        from_delay: f64,
    },
    /// The right arm rises with slope 1 only beyond some delay.
    ArmBeginsLate {
        /// Where the hinge has its knee, g − os − or; 0 at least.
        knee: f64,
        /// Where slope 1 begins.
        from_delay: f64,
        /// The gap, to compare with.
        gap: f64,
    },
    /// Only one delay is on the right arm, so its slope is unknown.
    ArmUnchecked {
        /// That delay.
        delay: f64,
    },
    /// Two points give os, and no other checks it.
    FewSendOnly {
        /// Points in the send-only regime.
        points: usize,
    },
    /// The first reply is back before a second message is issued, so os has no line.
    SendOnlyUnseen {
        /// The round trip.
        rtt: f64,
    },
    /// os is not above zero within its interval.
    SendOverheadUnresolved {
        /// os.
        send_overhead: f64,
    },
    /// The slope at the largest M and Δ = 0 is not confirmed by further points.
    GapUnsettled {
        /// Smallest M of the line.
        from_messages: u64,
        /// Largest M of the line.
        to_messages: u64,
    },
    /// The steady state at a delay is not confirmed by further points.
    Unsettled {
        /// The delay.
        delay: f64,
    },
    /// A delay was left out, with fewer than two message counts in its steady state.
    CurveTooShort {
        /// The delay.
        delay: f64,
    },
    /// There is no idle time: the processor, not the network, limits the rate.
    ProcessorBound {
        /// os + or.
        gap: f64,
    },
    /// The gap is shorter than the two overheads together.
    OverheadsOverlap {
        /// g − os − or.
        idle: f64,
    },
    /// The capacity cannot be read from this table.
    CapacityUnseen,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Finding::NegativeLatency { latency, low, high } => write!(
                f,
                "L is negative, {} ({} to {}): the overheads overlap the transfer, or contain it.",
                Ns(latency),
                Ns(low),
                Ns(high)
            ),
            Finding::ArmSlope { slope, from_delay } => write!(
                f,
                "The cost over the delay rises with slope {slope:.2}, which is not 1 within 5 %. So or, \
                 read from delays of {} on, is not constant.",
                Ns(from_delay)
            ),
            Finding::ArmBeginsLate { knee, from_delay, gap } => write!(
                f,
                "The cost rises one for one with the delay only from {} on ({:.1} times the gap). \
                 Between {} and there the model does not hold; or is read from the far arm.",
                Ns(from_delay),
                from_delay / gap,
                Ns(knee)
            ),
            Finding::ArmUnchecked { delay } => write!(
                f,
                "Only the delay of {} raises the cost, so the slope is not checked; observe more \
                 delays above the idle time.",
                Ns(delay)
            ),
            Finding::FewSendOnly { points } => write!(
                f,
                "Only {points} message counts lie in the send-only regime, so nothing checks that os \
                 is constant; observe more small M."
            ),
            Finding::SendOnlyUnseen { rtt } => write!(
                f,
                "A second message cannot be issued within the round trip of {}: there is no \
                 send-only regime, and os is the time of issuing a single message.",
                Ns(rtt)
            ),
            Finding::SendOverheadUnresolved { send_overhead } => write!(
                f,
                "os is {}, not above zero within its interval: the clock does not resolve it.",
                Ns(send_overhead)
            ),
            Finding::GapUnsettled { from_messages, to_messages } => write!(
                f,
                "The slope between M = {from_messages} and {to_messages}, taken as the gap, is not \
                 confirmed by further points; observe larger M."
            ),
            Finding::Unsettled { delay } => write!(
                f,
                "With a delay of {} the steady state is not confirmed by further points; \
                 observe larger M.",
                Ns(delay)
            ),
            Finding::CurveTooShort { delay } => write!(
                f,
                "The delay of {} is left out: fewer than two of its message counts lie in the \
                 steady state.",
                Ns(delay)
            ),
            Finding::ProcessorBound { gap } => write!(
                f,
                "The first delay already raises the cost: processor-bound, g = os + or = {}, and \
                 the network's own gap is not visible.",
                Ns(gap)
            ),
            Finding::OverheadsOverlap { idle } => write!(
                f,
                "The gap is shorter than os + or by {}: at full rate the overheads of successive \
                 messages overlap, or M is too small to fill the network.",
                Ns(-idle)
            ),
            Finding::CapacityUnseen => f.write_str(
                "The network's capacity is not visible: nothing but the processor limits the \
                 requests outstanding.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_sentences_with_their_numbers() {
        let findings = [
            (Finding::NegativeLatency { latency: -7.5, low: -9.0, high: -6.0 }, "-7.5"),
            (Finding::ArmSlope { slope: 1.58, from_delay: 54.0 }, "1.58"),
            (
                Finding::ArmBeginsLate { knee: 4.0, from_delay: 54.0, gap: 27.0 },
                "2.0 times the gap",
            ),
            (Finding::ArmUnchecked { delay: 54.0 }, "54"),
            (Finding::FewSendOnly { points: 2 }, "2 message counts"),
            (Finding::SendOnlyUnseen { rtt: 54.0 }, "54"),
            (Finding::SendOverheadUnresolved { send_overhead: 0.25 }, "0.25"),
            (Finding::GapUnsettled { from_messages: 64, to_messages: 128 }, "M = 64 and 128"),
            (Finding::Unsettled { delay: 54.0 }, "54"),
            (Finding::CurveTooShort { delay: 54.0 }, "54"),
            (Finding::ProcessorBound { gap: 62.0 }, "62"),
            (Finding::OverheadsOverlap { idle: -35.0 }, "by 35"),
            (Finding::CapacityUnseen, "capacity"),
        ];
        for (finding, number) in findings {
            let sentence = finding.to_string();
            assert!(sentence.contains(number), "{sentence}");
            assert!(sentence.ends_with('.'), "{sentence}");
            assert!(
                sentence.starts_with(char::is_uppercase) || sentence.starts_with("os "),
                "{sentence}"
            );
            assert!(!sentence.contains("  "), "{sentence}");
        }
    }
}

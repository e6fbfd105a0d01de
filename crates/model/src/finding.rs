//! Where the assumptions behind a signature do not hold, or are not checked.

use bandgap_units::{Ns, significant};
use derive_more::Display;

/// One finding; its `Display` is a sentence. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Display, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// L is below 0; its interval says whether it is negative.
    #[display("{}", below_zero([*latency, *low, *high]))]
    NegativeLatency {
        /// L and its interval.
        latency: f64,
        /// Lower end of L's interval.
        low: f64,
        /// Upper end of L's interval.
        high: f64,
    },
    /// The right arm does not rise with slope 1.
    #[display(
        "The cost over the delay rises with slope {slope:.2}, which is not 1 within 5 %. So \
         or, read from delays of {} on, is not constant.", Ns(*from_delay)
    )]
    ArmSlope {
        /// The slope found.
        slope: f64,
        /// or was still read from this delay on.
        from_delay: f64,
    },
    /// Whether the right arm rises with slope 1 is not decided.
    #[display(
        "From a delay of {} on the cost over the delay rises with slope {slope:.2} ({low:.2} to \
         {high:.2}): whether that is 1 within 5 % is undecided. More batches, or longer delays, \
         would decide it.", Ns(*from_delay)
    )]
    ArmUndecided {
        /// The slope found.
        slope: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end of its interval.
        high: f64,
        /// Where it begins.
        from_delay: f64,
    },
    /// The right arm begins only beyond some delay.
    #[display("{}", begins_late([*knee, *from_delay, *gap], *holds))]
    ArmBeginsLate {
        /// Where the hinge has its knee, g − os − or; 0 at least.
        knee: f64,
        /// Where the arm begins.
        from_delay: f64,
        /// The gap, to compare with.
        gap: f64,
        /// Whether the slope beyond is known to be 1.
        holds: bool,
    },
    /// At shorter delays than the far arm's the cost rises one for one too, on another level.
    #[display("{}", near_arm([*from_delay, *to_delay, *overheads], *slope, [*next_delay, *far_delay, *far_overheads], *far_holds))]
    NearArm {
        /// The shortest delay of the near arm.
        from_delay: f64,
        /// Its longest.
        to_delay: f64,
        /// os + or on it.
        overheads: f64,
        /// Its slope with the ends of the interval, where that leaves open whether it is 1.
        slope: Option<[f64; 3]>,
        /// Where the next arm begins.
        next_delay: f64,
        /// Where the far arm begins.
        far_delay: f64,
        /// os + or on the far arm.
        far_overheads: f64,
        /// Whether the far arm's slope is 1, where that is known.
        far_holds: Option<bool>,
    },
    /// The shortest delay costs more than the model allows.
    #[display(
        "os and g are of loops without a delay, os + or of loops with one. With the shortest, {}, a message \
         takes {} beside it: {} more than g.",
        Ns(*delay), Ns(*beside), Ns(*more).within(Ns(*low), Ns(*high))
    )]
    DelayCosts {
        /// The shortest delay.
        delay: f64,
        /// g'(Δ) − Δ at it.
        beside: f64,
        /// How much more than g that is.
        more: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end of its interval.
        high: f64,
    },
    /// Only one delay is on the right arm, so its slope is unknown.
    #[display(
        "Only the delay of {} raises the cost, so the slope is not checked.", Ns(*delay)
    )]
    ArmUnchecked {
        /// That delay.
        delay: f64,
    },
    /// Two points give os, and no other checks it.
    #[display(
        "Only 2 message counts lie in the send-only regime, so nothing checks that os is constant."
    )]
    FewSendOnly,
    /// Behind the line of os, still before a reply can be back, messages cost something else.
    #[display(
        "os is that of the first {to} messages. From M = {next} to {last} a message costs about {}, though no \
         reply can be back yet: M = {last} takes {}, and RTT is {}.",
        Ns(*cost), Ns(*elapsed), Ns(*rtt)
    )]
    SendOnlyBends {
        /// The last M of the line.
        to: u64,
        /// The first M off it.
        next: u64,
        /// The last M before a reply can be back.
        last: u64,
        /// What a message costs from the line's end to there.
        cost: f64,
        /// The time of that last M.
        elapsed: f64,
        /// The round trip.
        rtt: f64,
    },
    /// The first reply is back before a second message is issued, so os has no line.
    #[display(
        "A second message cannot be issued within the round trip of {}: there is no \
         send-only regime, and os is the time of issuing a single message.", Ns(*rtt)
    )]
    SendOnlyUnseen {
        /// The round trip.
        rtt: f64,
    },
    /// os is not above zero within its interval.
    #[display("os is {}, not above zero within its interval.", Ns(*send_overhead))]
    SendOverheadUnresolved {
        /// os.
        send_overhead: f64,
    },
    /// The interval of or or g reaches below 0.
    #[display(
        "{name} is {}: it cannot be told from 0. No time is below 0; where the interval ends shows how little is known.",
        Ns(*value).within(Ns(*low), Ns(*high))
    )]
    BelowZero {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end of its interval.
        high: f64,
    },
    /// The slope at the largest M and Δ = 0 is not confirmed by further points.
    #[display(
        "The slope between M = {from_messages} and {to_messages}, taken as the gap, is not \
         confirmed by further points."
    )]
    GapUnsettled {
        /// Smallest M of the line.
        from_messages: u64,
        /// Largest M of the line.
        to_messages: u64,
    },
    /// The steady state at a delay is not confirmed by further points.
    #[display("With a delay of {} the steady state is not confirmed by further points.", Ns(*delay))]
    Unsettled {
        /// The delay.
        delay: f64,
    },
    /// A delay was left out, with fewer than two message counts in its steady state.
    #[display(
        "The delay of {} is left out: fewer than two of its message counts lie in the steady \
         state.", Ns(*delay)
    )]
    CurveTooShort {
        /// The delay.
        delay: f64,
    },
    /// There is no idle time: the processor, not the network, limits the rate.
    #[display(
        "The first delay already raises the cost: processor-bound, g = os + or = {}, and the \
         network's own gap is not visible.", Ns(*gap)
    )]
    ProcessorBound {
        /// os + or.
        gap: f64,
    },
    /// The gap is shorter than the two overheads together.
    #[display(
        "The gap is shorter than os + or by {}: at full rate the overheads of successive \
         messages overlap, or M is too small to fill the network.", Ns(-*idle)
    )]
    OverheadsOverlap {
        /// g − os − or.
        idle: f64,
    },
    /// Whether there is idle time is not decided.
    #[display(
        "The idle time is {}: whether that is none, which is within 5 % of the gap, is \
         undecided, and so is what limits the rate. More batches would decide it.",
        Ns(*idle).within(Ns(*low), Ns(*high))
    )]
    RegimeUndecided {
        /// g − os − or.
        idle: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end of its interval.
        high: f64,
    },
    /// The interval of the capacity reaches below 0.
    #[display(
        "The interval of C reaches down to {}, and is cut off at 0: C counts requests.", significant(*low, 2)
    )]
    CapacityCut {
        /// Its lower end before.
        low: f64,
    },
    /// The capacity cannot be read from this table.
    #[display(
        "The network's capacity is not visible: nothing but the processor limits the \
         requests outstanding."
    )]
    CapacityUnseen,
}

impl Finding {
    /// What a table would have to hold as well, for what was not checked to be checked.
    #[must_use]
    pub fn unobserved(&self) -> Option<&'static str> {
        match self {
            Finding::ArmUnchecked { .. } => Some("more delays above the idle time"),
            Finding::FewSendOnly => Some("more small M"),
            Finding::GapUnsettled { .. } | Finding::Unsettled { .. } => Some("larger M"),
            _ => None,
        }
    }
}

/// What L and its interval say, where L is below 0.
fn below_zero(latency: [f64; 3]) -> String {
    let [value, low, high] = latency.map(Ns);
    let told = value.within(low, high);
    match latency[2] < 0.0 {
        true => {
            format!("L is negative, {told}: the overheads overlap the transfer, or contain it.")
        }
        false => format!("L is {told}: whether it is negative is undecided."),
    }
}

/// Where the arm begins, and what lies before it.
fn begins_late([knee, from, gap]: [f64; 3], holds: bool) -> String {
    let (times, [knee, from]) = (from / gap, [knee, from].map(Ns));
    if holds {
        format!(
            "The cost rises one for one with the delay only from {from} on ({times:.1} times the gap). Between \
             {knee} and there the model does not hold; or is read from {from} on."
        )
    } else {
        format!(
            "With delays between {knee} and {from} ({times:.1} times the gap) the model does not hold; or is read \
             from {from} on."
        )
    }
}

/// What an arm before the far one is good for, and what the far one is.
fn near_arm(
    near: [f64; 3],
    undecided: Option<[f64; 3]>,
    others: [f64; 3],
    far_holds: Option<bool>,
) -> String {
    let [from, to, overheads] = near.map(Ns);
    let [next, far, far_overheads] = others.map(Ns);
    let near = match undecided {
        None => format!(
            "There is a near arm: with delays of {from} to {to} a message takes {overheads} + Δ. That predicts \
             programs that compute as little between messages."
        ),
        Some([slope, low, high]) => format!(
            "Whether a message takes {overheads} + Δ with delays of {from} to {to}, on a near arm, is undecided: \
             its slope is {slope:.2} ({low:.2} to {high:.2})."
        ),
    };
    let level = format!("{far_overheads} + Δ from {far} on");
    let far = match far_holds {
        Some(true) => format!("The far arm, {level}, predicts programs that compute as much"),
        Some(false) => {
            format!("The far arm, from {far} on, predicts nothing, since its slope is not 1")
        }
        None => {
            format!(
                "Whether the far arm, {level}, predicts programs that compute as much is not known"
            )
        }
    };
    format!("{near} {far}; or is read from it. Between {to} and {next} nothing is predicted.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_sentences_with_their_numbers() {
        let near = |slope, far_holds| Finding::NearArm {
            from_delay: 10.0,
            to_delay: 60.0,
            overheads: 36.0,
            slope,
            next_delay: 105.0,
            far_delay: 105.0,
            far_overheads: 82.0,
            far_holds,
        };
        let late = |holds| Finding::ArmBeginsLate { knee: 4.0, from_delay: 54.0, gap: 27.0, holds };
        let findings = [
            (
                Finding::NegativeLatency { latency: -7.5, low: -9.0, high: -6.0 },
                "L is negative, -7.5",
            ),
            // 0 is inside.
            (
                Finding::NegativeLatency { latency: -675.0, low: -1269.0, high: 11.7 },
                "to 11.7 ns): whether it is negative is undecided.",
            ),
            (Finding::ArmSlope { slope: 1.58, from_delay: 54.0 }, "1.58"),
            (late(true), "one for one with the delay only from 54.0 ns on (2.0 times the gap)"),
            (
                late(false),
                "between 4.00 ns and 54.0 ns (2.0 times the gap) the model does not hold",
            ),
            (Finding::ArmUnchecked { delay: 54.0 }, "54"),
            (Finding::FewSendOnly, "2 message counts"),
            (
                Finding::SendOnlyBends {
                    to: 5,
                    next: 6,
                    last: 18,
                    cost: 9.0,
                    elapsed: 134.0,
                    rtt: 300.0,
                },
                "From M = 6 to 18 a message costs about 9.00 ns",
            ),
            (Finding::SendOnlyUnseen { rtt: 54.0 }, "54"),
            (Finding::SendOverheadUnresolved { send_overhead: 0.25 }, "0.25"),
            (
                Finding::BelowZero { name: "or", value: 3.0, low: -1.0, high: 7.0 },
                "or is 3.00 ns (-1.00 to 7.00 ns): it cannot be told from 0",
            ),
            (Finding::GapUnsettled { from_messages: 64, to_messages: 128 }, "M = 64 and 128"),
            (Finding::Unsettled { delay: 54.0 }, "54"),
            (Finding::CurveTooShort { delay: 54.0 }, "54"),
            (Finding::ProcessorBound { gap: 62.0 }, "62"),
            (Finding::OverheadsOverlap { idle: -35.0 }, "by 35"),
            (Finding::RegimeUndecided { idle: -3.5, low: -9.0, high: 2.0 }, "-3.5"),
            (
                Finding::ArmUndecided { slope: 0.96, low: 0.91, high: 1.01, from_delay: 54.0 },
                "0.96 (0.91 to 1.01)",
            ),
            (Finding::CapacityUnseen, "capacity"),
            (Finding::CapacityCut { low: -3.26 }, "down to -3.3, and is cut off at 0"),
            // It is below 0, not 0.
            (Finding::CapacityCut { low: -0.03 }, "down to -0.030, and is cut off at 0"),
            (near(None, Some(true)), "predicts programs that compute as little"),
            (
                near(None, Some(true)),
                "82.0 ns + Δ from 105 ns on, predicts programs that compute as much;",
            ),
            (near(None, None), "Whether the far arm, 82.0 ns + Δ from 105 ns on, predicts"),
            (near(None, Some(false)), "predicts nothing, since its slope is not 1; or is read"),
            (near(Some([1.03, 0.97, 1.08]), Some(true)), "1.03 (0.97 to 1.08)"),
            (
                Finding::DelayCosts {
                    delay: 11.0,
                    beside: 38.0,
                    more: 21.0,
                    low: 19.0,
                    high: 23.0,
                },
                "38.0 ns beside it: 21.0 ns (19.0 to 23.0 ns) more than g",
            ),
        ];
        for (finding, number) in findings {
            let sentence = finding.to_string();
            assert!(sentence.contains(number), "{sentence}");
            assert!(sentence.ends_with('.'), "{sentence}");
            assert!(
                sentence.starts_with(char::is_uppercase)
                    || ["os ", "or "].iter().any(|name| sentence.starts_with(name)),
                "{sentence}"
            );
            assert!(!sentence.contains("  "), "{sentence}");
        }
    }
}

//! Where the assumptions about a signature's arm and lines do not hold, or are not checked. What its parameters and its
//! regime say themselves is none.

/// One finding, as values. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// The right arm does not rise with slope 1 within 5 %: or is not constant.
    ArmSlope {
        /// The slope found.
        slope: f64,
        /// or was still read from this delay on.
        from_delay: f64,
    },
    /// Whether the right arm rises with slope 1 within 5 % is not decided.
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
    /// Behind the line of os, still before a reply can be back, messages cost something else.
    SendOnlyBends {
        /// The last M of the line.
        to: u64,
        /// The first M off it.
        next: u64,
        /// The last M before a reply can be back.
        last: u64,
        /// What a message costs from the line's end to there.
        cost: f64,
    },
    /// The first reply is back before a second message is issued, so os has no line: it is the time of issuing a
    /// single message.
    SendOnlyUnseen {
        /// The round trip.
        rtt: f64,
    },
    /// The slope at the largest M and Δ = 0, taken as the gap, is not confirmed by further points.
    GapUnsettled {
        /// Smallest M of the line.
        from_messages: u64,
        /// Largest M of the line.
        to_messages: u64,
    },
}

//! Why parameters could not be extracted.

use bandgap_units::{Bytes, Ns};
use thiserror::Error;

use crate::observation::Kind;

/// What is missing or wrong in the data. Reads after "failed to …: ".
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No single request-reply pairs were observed.
    #[error("no rtt observations; L needs the time of single request-reply pairs")]
    NoRtt,
    /// The issue phase was never observed without computing between the messages.
    #[error("no issue observations with a delay of 0; os and g are read from them")]
    NoZeroDelay,
    /// Fewer message counts than needed before the first reply comes back.
    #[error(
        "{} in the send-only regime (M·os below RTT = {}); at least 2 are needed, and 4 are better",
        message_counts(*.found), Ns(*.rtt)
    )]
    TooFewSmall {
        /// How many there are.
        found: usize,
        /// The round-trip time in nanoseconds.
        rtt: f64,
    },
    /// Too few message counts beyond the send-only regime at this delay.
    #[error(
        "{} beyond the send-only regime with a delay of {}; at least 2 are needed, and 4 are better",
        message_counts(*.found), Ns(*.delay)
    )]
    TooFewLarge {
        /// The delay in nanoseconds.
        delay: f64,
        /// How many there are.
        found: usize,
    },
    /// No delay was long enough to raise the message cost above the gap.
    #[error(
        "no delay above idle: none raises the message cost above the gap of {}, so or cannot be read",
        Ns(*.gap)
    )]
    NoDelayAboveIdle {
        /// The gap in nanoseconds.
        gap: f64,
    },
    /// An observation has too few repetitions for an interval.
    #[error(
        "{found} repetition of {kind} with {messages} messages and a delay of {}, at least 2 are \
         needed for an interval", Ns(*.delay)
    )]
    TooFewBatches {
        /// What was observed.
        kind: Kind,
        /// Messages of the observation.
        messages: u64,
        /// The delay in nanoseconds.
        delay: f64,
        /// How many there are.
        found: usize,
    },
    /// An observation has an impossible value.
    #[error(
        "{value} ns as a time of {kind} with {messages} messages and a delay of {delay} ns; times \
         are finite and not negative, and messages at least 1"
    )]
    BadValue {
        /// What was observed.
        kind: Kind,
        /// Messages of the observation.
        messages: u64,
        /// The delay in nanoseconds.
        delay: f64,
        /// The value in nanoseconds.
        value: f64,
    },
    /// A quantity that is positive on every machine is not.
    #[error("{quantity} of {}: the table does not rise with the number of messages", Ns(*.value))]
    NotPositive {
        /// Name of the quantity.
        quantity: &'static str,
        /// The value in nanoseconds.
        value: f64,
    },
    /// A message's time is impossible.
    #[error("{value:?} ns as the time of {}; times lie between 1e-12 and 1e18 ns", Bytes(*.bytes))]
    BadTime {
        /// Message length.
        bytes: u64,
        /// The value in nanoseconds.
        value: f64,
    },
    /// A size without a single time.
    #[error("no times of messages of {}", Bytes(*.bytes))]
    NoTimes {
        /// Message length.
        bytes: u64,
    },
    /// Too few different message sizes for a line and its residuals.
    #[error("{found} different message sizes, at least 3 are needed and 8 or more are better")]
    TooFewSizes {
        /// How many there are.
        found: usize,
    },
    /// Points of one distance only.
    #[error("{found} distance, at least 2 are needed for the time of a hop and 3 are better")]
    TooFewDistances {
        /// How many there are.
        found: usize,
    },
    /// A given break has no sizes on one of its sides.
    #[error(
        "a break at {} leaves no sizes on one side; the sizes are {} to {}",
        Bytes(*.at), Bytes(*.from), Bytes(*.to)
    )]
    BreakOutside {
        /// The break.
        at: u64,
        /// Smallest size.
        from: u64,
        /// Largest size.
        to: u64,
    },
    /// Given breaks without a size between them, or that do not ascend.
    #[error("there is no size above the break at {} up to that at {}", Bytes(*.before), Bytes(*.at))]
    BreaksTooClose {
        /// The first of the two.
        before: u64,
        /// The second.
        at: u64,
    },
    /// The confidence cannot be used.
    #[error("a confidence of {confidence}; use one above 0 and below 1")]
    BadConfidence {
        /// The confidence asked for.
        confidence: f64,
    },
}

impl ModelError {
    /// # Errors
    /// [`ModelError::BadConfidence`] unless it is strictly between 0 and 1.
    pub(crate) fn unless_confidence(confidence: f64) -> Result<(), ModelError> {
        let is_one = confidence > 0.0 && confidence < 1.0;
        if is_one { Ok(()) } else { Err(ModelError::BadConfidence { confidence }) }
    }

    /// What a table would have to hold as well; `None` where it is not too little that it holds.
    pub fn unobserved(&self) -> Option<String> {
        match self {
            Self::TooFewSmall { .. } => Some("smaller M with a delay of 0".to_owned()),
            Self::TooFewLarge { .. } => Some("larger M".to_owned()),
            Self::NoDelayAboveIdle { gap } => {
                Some(format!("longer delays, up to {}", Ns(2.0 * gap)))
            }
            _ => None,
        }
    }
}

/// `1 message count`, `3 message counts`.
fn message_counts(found: usize) -> String {
    format!("{found} message {}", if found == 1 { "count" } else { "counts" })
}

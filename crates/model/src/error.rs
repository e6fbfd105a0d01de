//! Why parameters could not be extracted.

use bandgap_units::{Bytes, Ns};
use thiserror::Error;

/// Result of an extraction step.
pub(crate) type Result<T = (), E = ModelError> = std::result::Result<T, E>;

/// What is missing or wrong in the data. Texts follow "failed to …: ". Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No observations of single request-reply pairs.
    #[error("no rtt observations (L needs the time of single request-reply pairs)")]
    NoRtt,
    /// No observations of the issue phase with a delay of 0.
    #[error("no issue observations with a delay of 0 (os and g are read from them)")]
    NoZeroDelay,
    /// Fewer message counts than needed before the first reply returns: their number, and the
    /// round-trip time.
    #[error(
        "{} in the send-only regime (M·os below RTT = {}); at least 2 are needed, and 4 are better",
        message_counts(*.0), Ns(*.1)
    )]
    TooFewSmall(usize, f64),
    /// Too few message counts beyond the send-only regime: their number, and the delay.
    #[error(
        "{} beyond the send-only regime with a delay of {}; at least 2 are needed, and 4 are better",
        message_counts(*.0), Ns(*.1)
    )]
    TooFewLarge(usize, f64),
    /// No delay raised the message cost above this gap.
    #[error(
        "no delay raises the message cost above the gap of {}, so or cannot be read",
        Ns(*.0)
    )]
    NoDelayAboveIdle(f64),
    /// An impossible time of a message: its size and the time.
    #[error("a time of {:?} ns for {}; times must be between 1e-12 and 1e18 ns", .1, Bytes(*.0))]
    BadTime(u64, f64),
    /// Too few different message sizes for a line and its residuals.
    #[error("{0} different message sizes; at least 3 are needed, and 8 or more are better")]
    TooFewSizes(usize),
    /// A given break leaves no sizes on one side: the break, the smallest and the largest size.
    #[error(
        "a break at {} leaves no sizes on one side; the sizes are {} to {}",
        Bytes(*.0), Bytes(*.1), Bytes(*.2)
    )]
    BreakOutside(u64, u64, u64),
    /// Two given breaks without a size between them, or not in ascending order.
    #[error("no size lies between the breaks at {} and {}", Bytes(*.0), Bytes(*.1))]
    BreaksTooClose(u64, u64),
    /// Any other missing or impossible data.
    #[error("{0}")]
    Unusable(String),
}

impl ModelError {
    /// # Errors
    /// If the confidence is not strictly between 0 and 1.
    pub(crate) fn unless_confidence(confidence: f64) -> Result {
        match confidence > 0.0 && confidence < 1.0 {
            true => Ok(()),
            false => Err(Self::Unusable(format!(
                "a confidence of {confidence}; use one above 0 and below 1"
            ))),
        }
    }

    /// The error for a size without times.
    pub(crate) fn no_times(bytes: u64) -> ModelError {
        Self::Unusable(format!("no times of messages of {}", Bytes(bytes)))
    }

    /// What to add to the table, for errors about too little data; otherwise `None`.
    pub fn unobserved(&self) -> Option<String> {
        match self {
            Self::TooFewSmall(..) => Some("smaller M with a delay of 0".to_owned()),
            Self::TooFewLarge(..) => Some("larger M".to_owned()),
            Self::NoDelayAboveIdle(gap) => Some(format!("longer delays, up to {}", Ns(2.0 * gap))),
            _ => None,
        }
    }
}

/// `1 message count`, `3 message counts`.
fn message_counts(found: usize) -> String {
    format!("{found} message {}", if found == 1 { "count" } else { "counts" })
}

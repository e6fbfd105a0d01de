//! What the numbers of a fit over distances do not say.

use bandgap_units::{Bytes, Ns, significant};
use derive_more::Display;

use crate::hockney::Range;

/// One finding; its `Display` is a sentence. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Display, PartialEq)]
#[non_exhaustive]
pub enum HopsFinding {
    /// With two distances nothing shows whether the time is linear in the hops.
    #[display("There are two distances only: whether the time is linear in the hops is undecided.")]
    TwoDistances,
    /// A segment has no fit.
    #[display(
        "From {range} there are too few points for a fit, {points}: two lengths at two distances \
         are needed, and more are better."
    )]
    TooFewPoints {
        /// The segment.
        range: Range,
        /// Its points.
        points: usize,
    },
    /// The start-up time is not positive, and absent.
    #[display(
        "From {range} the start-up time would be {}, but it is never negative: t_startup is not \
         given.", Ns(*startup)
    )]
    NegativeStartup {
        /// The segment.
        range: Range,
        /// t_startup.
        startup: f64,
    },
    /// The time falls with the length: t_byte is absent.
    #[display(
        "From {range} the time does not rise with the length ({} ns/B): t_byte is not given.",
        significant(*per_byte, 3)
    )]
    NoRise {
        /// The segment.
        range: Range,
        /// t_byte.
        per_byte: f64,
    },
    /// The interval of t_byte reaches zero.
    #[display(
        "From {range} it is undecided whether the time rises with the length: t_byte is at most \
         {} ns/B.", significant(*most, 3)
    )]
    RiseUndecided {
        /// The segment.
        range: Range,
        /// The upper end of its interval.
        most: f64,
    },
    /// The interval of h contains zero.
    #[display(
        "From {range} it is undecided whether a hop costs time: h = {}.",
        Ns(*per_hop).within(Ns(*low), Ns(*high))
    )]
    HopUndecided {
        /// The segment.
        range: Range,
        /// h.
        per_hop: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end of its interval.
        high: f64,
    },
    /// The interval of h is below zero.
    #[display(
        "From {range} messages that go further take less time: h = {}. So the time is \
         not one of hops.", Ns(*per_hop).within(Ns(*low), Ns(*high))
    )]
    NegativeHop {
        /// The segment.
        range: Range,
        /// h.
        per_hop: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end of its interval.
        high: f64,
    },
    /// The distances deviate from a line in the hops by more than their points scatter.
    #[display(
        "From {range} the time is not linear in the hops: distances deviate by more than their \
         points scatter (probability by chance: {}; residuals {}). So h is a mean, and the \
         intervals are too narrow.", chance_of(*chance), percent(*rms)
    )]
    NotLinear {
        /// The segment.
        range: Range,
        /// Root mean square of the relative residuals.
        rms: f64,
        /// The probability of such deviations by chance.
        chance: f64,
    },
    /// The fit misses the times by much.
    #[display(
        "From {range} the fit misses the times by {} (root mean square; {} at {}).",
        percent(*rms), percent(*worst), Bytes(*at)
    )]
    LargeResiduals {
        /// The segment.
        range: Range,
        /// Root mean square of the relative residuals.
        rms: f64,
        /// The largest, with its sign.
        worst: f64,
        /// Where that is, in bytes.
        at: u64,
    },
}

impl HopsFinding {
    /// Whether it says that the times of a segment do not follow its plane, so that intervals, which come from
    /// how the points scatter about a plane, are too narrow.
    #[must_use]
    pub fn is_misfit(&self) -> bool {
        matches!(self, HopsFinding::NotLinear { .. } | HopsFinding::LargeResiduals { .. })
    }
}

/// A probability; those that rounding makes zero as a bound.
fn chance_of(chance: f64) -> String {
    if chance < 1e-9 { "below 1e-9".to_owned() } else { format!("{chance:.0e}") }
}

/// A share in per cent.
fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share, 2))
}

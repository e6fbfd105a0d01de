//! What the numbers of a fit over distances do not say.

use crate::hockney::Range;

/// One finding, as values. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum HopsFinding {
    /// With two distances nothing shows whether the time is linear in the hops.
    TwoDistances,
    /// A segment has no fit.
    TooFewPoints {
        /// The segment.
        range: Range,
        /// Its points.
        points: usize,
    },
    /// The start-up time is not positive, and absent.
    NegativeStartup {
        /// The segment.
        range: Range,
        /// t_startup.
        startup: f64,
    },
    /// The time falls with the length: t_byte is absent.
    NoRise {
        /// The segment.
        range: Range,
        /// t_byte.
        per_byte: f64,
    },
    /// The interval of h is below zero.
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
    NotLinear {
        /// The segment.
        range: Range,
        /// Root mean square of the relative residuals.
        rms: f64,
        /// The probability of such deviations by chance.
        chance: f64,
    },
    /// The fit misses the times by much.
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

//! What the numbers of a Hockney fit do not say.

use bandgap_units::{Bytes, Fraction, Ns, Rate, significant};
use derive_more::Display;

/// Sizes of a segment, both ends included.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
#[display("{} to {}", Bytes(*from), Bytes(*to))]
pub struct Range {
    /// Smallest size in bytes.
    pub from: u64,
    /// Largest size in bytes.
    pub to: u64,
}

impl Range {
    /// Whether a length lies inside; the ends count.
    #[must_use]
    pub fn contains(&self, bytes: f64) -> bool {
        self.from as f64 <= bytes && bytes <= self.to as f64
    }
}

/// One finding; its `Display` is a sentence. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Display, PartialEq)]
#[non_exhaustive]
pub enum HockneyFinding {
    /// A segment has no line.
    #[display(
        "From {range} there are too few sizes for a line, {sizes} where 3 are needed and \
         more are better."
    )]
    TooFewSizes {
        /// The segment.
        range: Range,
        /// Its sizes.
        sizes: usize,
    },
    /// The intercept is not positive: t0, n½ and π0 are absent.
    #[display(
        "From {range} the line meets n = 0 at {}, but a startup time is never \
         negative: t0, n½ and π0 are not given. The times may bend, or the segment may be \
         too far from 0.", Ns(*t0).within(Ns(*low), Ns(*high))
    )]
    NegativeStartup {
        /// The segment.
        range: Range,
        /// The intercept.
        t0: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end of its interval.
        high: f64,
    },
    /// The interval of t0 reaches zero: n½ and π0 are absent.
    #[display(
        "From {range} t0 = {} may be 0 (at most {}): n½ and π0 are not given. Measure more \
         short messages, or more repetitions.", Ns(*t0), Ns(*high)
    )]
    StartupUnresolved {
        /// The segment.
        range: Range,
        /// t0.
        t0: f64,
        /// Upper end of its interval.
        high: f64,
    },
    /// The time does not rise with the length: r∞ and n½ are absent.
    #[display(
        "From {range} the time does not rise with the length ({} ns/B, {} to {}): r∞ and n½ \
         are not given.", significant(*slope, 3), significant(*low, 3), significant(*high, 3)
    )]
    NoRise {
        /// The segment.
        range: Range,
        /// The slope in nanoseconds per byte.
        slope: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end of its interval.
        high: f64,
    },
    /// The interval of the slope reaches zero: r∞ and n½ are absent.
    #[display(
        "From {range} the time may not rise with the length (r∞ is at least {}): r∞ and n½ \
         are not given.", Rate(*least)
    )]
    RateUnresolved {
        /// The segment.
        range: Range,
        /// What r∞ is at least, in bytes per second.
        least: f64,
    },
    /// n½ lies outside everything that was measured, and is absent.
    #[display(
        "From {range} n½ would be {} B, outside of what was measured ({measured}), so it is \
         not given.", significant(*n_half, 3)
    )]
    HalfLengthOutside {
        /// The segment.
        range: Range,
        /// n½ in bytes.
        n_half: f64,
        /// What was measured.
        measured: Range,
    },
    /// The interval of n½ has no end, and it is absent.
    #[display(
        "From {range} n½ would be {} B, but its interval has no end, so it is not given.",
        significant(*n_half, 3)
    )]
    HalfLengthUnresolved {
        /// The segment.
        range: Range,
        /// n½ in bytes.
        n_half: f64,
    },
    /// n½ lies outside its own segment.
    #[display(
        "From {range} n½ = {} B lies outside of the segment: no message of this segment has \
         half of its r∞.", significant(*n_half, 3)
    )]
    HalfLengthElsewhere {
        /// The segment.
        range: Range,
        /// n½ in bytes.
        n_half: f64,
    },
    /// The line misses the times by much.
    #[display(
        "From {range} the line misses the times by {} (root mean square; {} at {}).",
        Fraction(*rms), Fraction(*worst), Bytes(*at)
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
    /// Neighbouring sizes deviate alike: the times do not follow a line.
    #[display(
        "From {range} neighbouring sizes deviate alike, by {} (probability by chance: {}). \
         So the times do not follow a line, and the intervals are too narrow.",
        Fraction(*rms), significant(*chance, 1)
    )]
    Bent {
        /// The segment.
        range: Range,
        /// Root mean square of the relative residuals.
        rms: f64,
        /// The probability of so few changes of sign by chance.
        chance: f64,
    },
    /// Too few sizes to search for breaks.
    #[display(
        "With {sizes} sizes there is no search for breaks; {needed} are needed for two \
         segments."
    )]
    BreaksUnsearched {
        /// How many there are.
        sizes: usize,
        /// How many two segments need.
        needed: usize,
    },
    /// As many segments were found as were allowed.
    #[display(
        "As many segments were found as were allowed, {most}: the times may change more \
         often, or bend."
    )]
    MostSegments {
        /// How many.
        most: usize,
    },
}

impl HockneyFinding {
    /// Whether it says that the times of a segment do not follow its line, so that intervals, which come from
    /// how the times scatter about a line, are too narrow: residuals are large, or not by chance, or the
    /// line meets n = 0 below zero, where no time is.
    #[must_use]
    pub fn is_misfit(&self) -> bool {
        matches!(
            self,
            HockneyFinding::NegativeStartup { .. }
                | HockneyFinding::LargeResiduals { .. }
                | HockneyFinding::Bent { .. }
        )
    }

    /// What of which sizes is not given or must not be trusted, in a word or two each; `None` of what only explains.
    #[must_use]
    pub fn doubt(&self) -> Option<(Range, &'static [&'static str])> {
        Some(match *self {
            HockneyFinding::TooFewSizes { range, .. } => (range, &["no line"]),
            HockneyFinding::NegativeStartup { range, .. } => (range, &["no t0", "no n½", "no π0"]),
            HockneyFinding::StartupUnresolved { range, .. } => (range, &["no n½", "no π0"]),
            HockneyFinding::NoRise { range, .. } | HockneyFinding::RateUnresolved { range, .. } => {
                (range, &["no r∞", "no n½"])
            }
            HockneyFinding::HalfLengthOutside { range, .. }
            | HockneyFinding::HalfLengthUnresolved { range, .. } => (range, &["no n½"]),
            HockneyFinding::LargeResiduals { range, .. } | HockneyFinding::Bent { range, .. } => {
                (range, &["times off the line"])
            }
            HockneyFinding::HalfLengthElsewhere { .. }
            | HockneyFinding::BreaksUnsearched { .. }
            | HockneyFinding::MostSegments { .. } => return None,
        })
    }

    /// Whether it says that a parameter is not given, or that a line does not follow its times. The
    /// other findings only explain.
    #[must_use]
    pub fn is_doubt(&self) -> bool {
        self.doubt().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_sentences_with_their_numbers() {
        let range = Range { from: 0, to: 4096 };
        let measured = Range { from: 1, to: 8192 };
        let findings = [
            (HockneyFinding::TooFewSizes { range, sizes: 2 }, "2 where 3"),
            (
                HockneyFinding::NegativeStartup { range, t0: -700.0, low: -900.0, high: -500.0 },
                "-700 ns",
            ),
            (HockneyFinding::StartupUnresolved { range, t0: 50.0, high: 120.0 }, "at most 120 ns"),
            (HockneyFinding::NoRise { range, slope: -0.25, low: -0.5, high: 0.01 }, "-0.250 ns/B"),
            (HockneyFinding::RateUnresolved { range, least: 2e9 }, "2.00 GB/s"),
            (HockneyFinding::HalfLengthOutside { range, n_half: 9500.0, measured }, "1 B to 8 KiB"),
            (HockneyFinding::HalfLengthUnresolved { range, n_half: 4000.0 }, "4000 B"),
            (HockneyFinding::HalfLengthElsewhere { range, n_half: 5000.0 }, "5000 B"),
            (
                HockneyFinding::LargeResiduals { range, rms: 0.25, worst: -0.904, at: 512 },
                "25 % (root mean square; -90.4 % at 512 B)",
            ),
            (HockneyFinding::Bent { range, rms: 0.03, chance: 0.0002 }, "0.0002"),
            (HockneyFinding::BreaksUnsearched { sizes: 5, needed: 8 }, "5 sizes"),
            (HockneyFinding::MostSegments { most: 5 }, "allowed, 5"),
        ];
        for (finding, number) in findings {
            let sentence = finding.to_string();
            assert!(sentence.contains(number), "{sentence}");
            assert!(sentence.ends_with('.'), "{sentence}");
            assert!(sentence.starts_with(char::is_uppercase), "{sentence}");
            assert!(!sentence.contains("  "), "{sentence}");
        }
    }
}

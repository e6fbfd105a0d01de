//! What a fit's numbers do not say, such as why one is not given.

/// Sizes of a segment in bytes, both ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Smallest size.
    pub from: u64,
    /// Largest size.
    pub to: u64,
}

/// One finding, as values. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum HockneyFinding {
    /// The time of a size is far off every line: it is left out.
    LeftOut {
        /// The size.
        bytes: u64,
        /// Its time.
        time: f64,
        /// The time by the line of its segment.
        line: f64,
    },
    /// A segment has no line: 3 sizes are needed.
    TooFewSizes {
        /// The segment.
        range: Range,
        /// Its sizes.
        sizes: usize,
    },
    /// The intercept is not positive, as no startup time is: t0, n½ and π0 are absent.
    NegativeStartup {
        /// The segment.
        range: Range,
        /// The intercept.
        t0: f64,
    },
    /// The interval of t0 reaches zero: n½ and π0 are absent.
    StartupUnresolved {
        /// The segment.
        range: Range,
        /// Upper end of its interval.
        high: f64,
    },
    /// The time does not rise with the length, or the interval of the slope reaches zero: r∞ and n½ are absent.
    RateUnresolved {
        /// The segment.
        range: Range,
    },
    /// n½ lies outside everything that was measured, and is absent.
    HalfLengthOutside {
        /// The segment.
        range: Range,
        /// n½ in bytes.
        n_half: f64,
        /// What was measured.
        measured: Range,
    },
    /// The line misses the times by more than 10 %.
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

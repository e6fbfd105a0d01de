//! Hockney's model of a message's time, t(n) = (n + n½)/r∞, fitted in one or several segments.
//!
//! - [`fit`]: from times of messages of many lengths, in one launch or several, to [`HockneyFit`].
//! - [`Finding`]: what its numbers do not say, such as why a parameter is not given.
//!
//! A parameter that the data do not support is absent, and a finding says why. Times are
//! nanoseconds, rates bytes per second. T(n) = T0 + n/R∞ of bulk transfers is the same line, and
//! 1/r∞ is LogGP's G.
//!
//! Source: Hockney and Berry (editors), "PARKBENCH Report: Public International Benchmarks for
//! Parallel Computers" (1994), COMMS1; Hockney, "The Communication Challenge for MPP" (1994).

mod breaks;
mod input;
mod rounding;
mod segment;

pub use input::{SizedTimes, sized_times_from_pairs};
pub use segment::parameters;

use std::collections::BTreeMap;

use bandgap_stats::Regression;
use bandgap_units::Ns;
use derive_more::Display;

use crate::error::{ModelError, Result};
use crate::finding::Finding;
use crate::signature::Estimate;

/// Where segments end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breaks {
    /// Found, with up to `most` segments of at least [`FEWEST_SIZES`] sizes.
    Automatic {
        /// Most segments.
        most: usize,
    },
    /// The largest length of each segment but the last, ascending: `[100]` means n ≤ 100 and n > 100.
    /// Empty for a single line.
    At(Vec<u64>),
}

/// Fewest sizes of a segment that is found.
pub const FEWEST_SIZES: usize = 4;

/// How to fit.
#[derive(Clone, Debug, PartialEq)]
pub struct HockneyOptions {
    /// Where segments end.
    pub breaks: Breaks,
    /// Confidence of all intervals, strictly between 0 and 1.
    pub confidence: f64,
    /// How far below the times of a size, and how far above them, what was rounded to them may lie, in
    /// nanoseconds. Times of sizes that are not listed are exact. A deviation that rounding explains is neither
    /// a break nor a bend, and intervals are wider by what it may hide.
    pub rounding: BTreeMap<u64, [f64; 2]>,
}

impl Default for HockneyOptions {
    fn default() -> HockneyOptions {
        HockneyOptions {
            breaks: Breaks::Automatic { most: 5 },
            confidence: 0.95,
            rounding: BTreeMap::new(),
        }
    }
}

/// Which errors a fit makes small.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
#[display(rename_all = "lowercase")]
pub enum Weighting {
    /// Σ(t/t̂ − 1)²: short and long messages count alike.
    Relative,
    /// Σ(t − t̂)²: the longest messages count most.
    Ordinary,
}

/// A change from one segment to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Largest measured size of the lower segment.
    pub last_below: u64,
    /// Smallest measured size of the upper segment.
    pub first_above: u64,
    /// Lower end of the interval: a size, the change is above it. The break itself if given.
    pub low: u64,
    /// Upper end of the interval: a size, the change is below it or there. The break itself if
    /// given.
    pub high: u64,
    /// Whether it was given rather than found; then it has no interval.
    pub given: bool,
}

/// The fits of both weightings over the same segments.
#[derive(Clone, Debug, PartialEq)]
pub struct HockneyFit {
    /// Where segments meet, ascending; one fewer than segments. Found ones minimise relative errors.
    pub breakpoints: Vec<Breakpoint>,
    /// The fit of least relative errors.
    pub relative: Fit,
    /// The fit of least absolute errors.
    pub ordinary: Fit,
    /// Findings of the segments as a whole.
    pub findings: Vec<Finding>,
    /// Sizes whose times are far off every line, and count nowhere; ascending.
    pub left_out: Vec<u64>,
}

/// One fit of all segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Which errors it makes small.
    pub weighting: Weighting,
    /// The segments, ascending.
    pub segments: Vec<Segment>,
    /// Findings, and why parameters are absent.
    pub findings: Vec<Finding>,
}

/// Residuals of a segment, measured less fitted, at a glance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResidualSummary {
    /// Root of the mean squared relative residual.
    pub rms_relative: f64,
    /// The largest relative residual, with its sign: positive where the measured time is longer.
    pub worst_relative: f64,
    /// The size where that is.
    pub worst_bytes: u64,
}

/// One straight piece. An absent parameter has its reason among the fit's findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// Smallest measured size.
    pub from_bytes: u64,
    /// Largest measured size.
    pub to_bytes: u64,
    /// t0 = n½/r∞, the time of an empty message by this line, in nanoseconds. Its interval may reach
    /// below zero.
    pub t0: Option<Estimate>,
    /// r∞ = 1/slope, the rate approached by long messages, in bytes per second.
    pub r_inf: Option<Estimate>,
    /// n½ = t0·r∞, the length that has half of that rate, in bytes. Its interval is Fieller's.
    pub n_half: Option<Estimate>,
    /// π0 = 1/t0, empty messages per second, which is the short messages' rate per byte of length.
    pub pi0: Option<Estimate>,
    /// The residuals; `None` without a line.
    pub residuals: Option<ResidualSummary>,
    /// Whether the times do not follow the line, since residuals are large or it meets n = 0 below zero, where no time
    /// is: then the parameters' intervals, which come from how the times scatter about a line, are too narrow.
    pub misfit: bool,
    /// Number of sizes.
    pub points: usize,
    /// The line in nanoseconds over bytes, also where it gives no parameters; `None` for fewer than
    /// three sizes.
    pub line: Option<Regression>,
    /// The line that each launch gives alone, if it does.
    pub launches: Vec<Option<Regression>>,
}

/// Fits t(n) = (n + n½)/r∞ to times of messages of many lengths, by segments, with both weightings.
///
/// Repetitions of a size are one point, their mean inside the fence of [`bandgap_stats::outlier`], and
/// every size counts alike. So intervals come from how the sizes scatter about the line, and not from
/// how the repetitions of one size scatter.
/// *Formula*: found breaks minimise the criterion of [`bandgap_stats::segmented::search`] on relative
/// errors; its least noise is that of the means, as repetitions and steps show it. Sizes that
/// [`bandgap_stats::segmented::outliers`] names are left out before. Then
/// [`bandgap_stats::regression`] fits each segment by itself. t0 is the intercept and r∞ the
/// reciprocal of the slope, with their t intervals; π0 = 1/t0 has the reciprocals of t0's ends, and
/// n½ = t0·r∞ Fieller's interval. Each end then moves out by the most that steps can do: its distance
/// becomes the root of the sum of both squares.
/// *Units*: nanoseconds, bytes, bytes per second.
/// *Assumes* independent errors from size to size: for found breaks and the relative fit in
/// proportion to the time, for the ordinary fit of any variance.
///
/// Of several launches a size is the mean of the launches' means. Segments are those of all launches together. Each launch
/// has a line of its own in each of them, and every interval, that of the common line from how sizes scatter about
/// it, is [`widened`](bandgap_stats::interval::widened) to hold how the launches' lines differ. *Assumes* launches that
/// are independent and alike.
///
/// # Errors
/// [`ModelError::BadTime`] for a time that is not a positive number of usual size,
/// [`ModelError::TooFewSizes`] for fewer than three different sizes, [`ModelError::BreakOutside`] and
/// [`ModelError::BreaksTooClose`] for given breaks without sizes between them or not ascending; no times, or a confidence that is none.
pub fn fit(launches: &[&[SizedTimes]], options: &HockneyOptions) -> Result<HockneyFit> {
    ModelError::unless_confidence(options.confidence)?;
    let tables = |left_out: &[u64]| {
        let of = |data: &&[SizedTimes]| input::SizeSamples::of(data, &options.rounding, left_out);
        let each = launches.iter().map(of).collect::<Result<Vec<_>>>()?;
        Ok((input::SizeSamples::joined(&each)?, each))
    };
    let (whole, _) = tables(&[])?;
    let left_out = breaks::left_out(&whole, &options.breaks)?;
    let (table, each) = tables(&left_out)?;
    let breakpoints = breaks::place(&table, options)?;
    let of = |weighting| {
        let by = (weighting, options.confidence);
        segment::fit((&table, &each), &breakpoints, by)
    };
    let (relative, ordinary) = (of(Weighting::Relative), of(Weighting::Ordinary));
    let s = |ns: f64| Ns(ns).as_secs();
    let findings = left_out.iter().filter_map(|&bytes| {
        let time = whole.times[whole.bytes.binary_search(&bytes).ok()?];
        let beside = |of: &&Segment| of.to_bytes >= bytes;
        let segments = &relative.segments;
        let segment = segments.iter().find(beside).or(segments.last())?;
        let line = segment.line.as_ref()?.at(bytes as f64);
        let values = [("bytes", bytes as f64), ("time", s(time)), ("line", s(line))];
        Some(Finding::new("size_left_out", "", &values))
    });
    let findings = findings.collect();
    Ok(HockneyFit { relative, ordinary, breakpoints, findings, left_out })
}

//! Hockney's model of a message's time, t(n) = (n + n½)/r∞, fitted in one or several segments.
//!
//! - [`fit`]: from times of messages of many lengths, in one or several launches, to
//!   [`HockneyFit`].
//! - [`Finding`]: what its numbers do not show, such as why a parameter is absent.
//!
//! A parameter that the data do not support is absent, and a finding says why. Times are in
//! nanoseconds, rates in bytes per second. T(n) = T0 + n/R∞ of bulk transfers is the same line, and
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
    /// To be found: up to `most` segments with at least [`FEWEST_SIZES`] sizes each.
    Automatic {
        /// Maximum number of segments.
        most: usize,
    },
    /// Given: the largest length of each segment but the last, ascending. `[100]` means n ≤ 100 and
    /// n > 100. Empty for a single line.
    At(Vec<u64>),
}

/// Fewest sizes of a found segment.
pub const FEWEST_SIZES: usize = 4;

/// Options of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct HockneyOptions {
    /// Where segments end.
    pub breaks: Breaks,
    /// Confidence of all intervals, strictly between 0 and 1.
    pub confidence: f64,
    /// How far the exact times of a size may lie below and above its rounded times, in nanoseconds.
    /// Times of sizes that are not listed are exact. A deviation that rounding explains is neither
    /// a break nor a bend, and intervals are widened by the possible effect of rounding.
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

/// Which errors a fit minimises.
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
    /// Lower end of the interval: the change is above this size. The break itself if given.
    pub low: u64,
    /// Upper end of the interval: the change is at or below this size. The break itself if given.
    pub high: u64,
    /// Whether the user gave it; a given break has no interval.
    pub given: bool,
}

/// The fits of both weightings over the same segments.
#[derive(Clone, Debug, PartialEq)]
pub struct HockneyFit {
    /// Where segments meet, ascending; one fewer than segments. Found ones minimise relative
    /// errors.
    pub breakpoints: Vec<Breakpoint>,
    /// The fit of least relative errors.
    pub relative: Fit,
    /// The fit of least absolute errors.
    pub ordinary: Fit,
    /// Findings of the segments as a whole.
    pub findings: Vec<Finding>,
    /// Sizes whose times are far off every line, ascending. They do not count in the fit.
    pub left_out: Vec<u64>,
}

/// One fit of all segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Which errors it minimises.
    pub weighting: Weighting,
    /// The segments, ascending.
    pub segments: Vec<Segment>,
    /// Findings, and why parameters are absent.
    pub findings: Vec<Finding>,
}

/// How far a time is off its line: t/t̂ − 1. `None` where the line is not above zero.
pub fn off_the_line(time: f64, line: f64) -> Option<f64> {
    (line > 0.0).then(|| (time - line) / line)
}

/// Summary of how far a segment's times are [`off_the_line`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResidualSummary {
    /// Root of the mean square.
    pub rms_relative: f64,
    /// The farthest, with its sign: positive if the measured time is longer.
    pub worst_relative: f64,
    /// The size that has it.
    pub worst_bytes: u64,
}

/// One straight piece. If a parameter is absent, the fit's findings say why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// Smallest measured size.
    pub from_bytes: u64,
    /// Largest measured size.
    pub to_bytes: u64,
    /// t0 = n½/r∞, the time of an empty message on this line, in nanoseconds. Its interval may
    /// extend below zero.
    pub t0: Option<Estimate>,
    /// r∞ = 1/slope, the rate approached by long messages, in bytes per second.
    pub r_inf: Option<Estimate>,
    /// n½ = t0·r∞, the length at which half of that rate is reached, in bytes. Its interval is
    /// Fieller's.
    pub n_half: Option<Estimate>,
    /// π0 = 1/t0, empty messages per second; the rate of short messages is about π0·n.
    pub pi0: Option<Estimate>,
    /// The residuals; `None` without a line above zero.
    pub residuals: Option<ResidualSummary>,
    /// Whether the times do not follow the line: residuals are large, or the line meets n = 0 at a
    /// negative time. The parameters' intervals, which come from the scatter about the line, are
    /// too narrow then.
    pub misfit: bool,
    /// Number of sizes.
    pub points: usize,
    /// The line in nanoseconds over bytes, even if it gives no parameters; `None` for fewer than
    /// three sizes.
    pub line: Option<Regression>,
    /// The line that each launch gives alone, if it does.
    pub launches: Vec<Option<Regression>>,
}

/// Fits t(n) = (n + n½)/r∞ to times of messages of many lengths, by segments, with both weightings.
///
/// Repetitions of a size form one point, their mean inside the fence of [`bandgap_stats::outlier`],
/// and every size counts alike. So intervals come from the scatter of the sizes about the line, and
/// not from the scatter of the repetitions of a size.
/// *Formula*: found breaks minimise the criterion of [`bandgap_stats::segmented::search`] on
/// relative errors; its least noise is that of the means, as known from repetitions and rounding.
/// Sizes found by [`bandgap_stats::segmented::outliers`] are excluded first. Then
/// [`bandgap_stats::regression`] fits each segment separately. t0 is the intercept and r∞ the
/// reciprocal of the slope, with their t intervals; π0 = 1/t0 has the reciprocals of t0's ends, and
/// n½ = t0·r∞ has Fieller's interval. Each end then moves outwards by the largest possible effect
/// of rounding: its distance becomes the root of the sum of both squares.
/// *Units*: nanoseconds, bytes, bytes per second.
/// *Assumes* independent errors from size to size: proportional to the time for found breaks and
/// the relative fit, of any variance for the ordinary fit.
///
/// With several launches, the time of a size is the mean of the launches' means. The segments are
/// those of all launches together. Each launch has its own line in each segment, and every
/// interval, which comes from the scatter of sizes about the common line, is
/// [`widened`](bandgap_stats::interval::widened) to include the differences between the launches'
/// lines. *Assumes* that launches are independent and alike.
///
/// # Errors
/// [`ModelError::BadTime`] for a time that is not positive or outside the accepted range,
/// [`ModelError::TooFewSizes`] for fewer than three different sizes, [`ModelError::BreakOutside`]
/// and [`ModelError::BreaksTooClose`] for given breaks without sizes between them or not ascending.
/// Also for no times, or a confidence that is not strictly between 0 and 1.
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

//! The time of a message as a function of its length and its number of hops: t(n, k) = t_startup +
//! n·t_byte + (k − 1)·h.
//!
//! - [`fit`]: from times of several lengths at several distances to segments.
//!
//! Source: Ganapati, "CoMet: A Synthetic Benchmark for Message-Passing Architectures" (1993), 5.1.
//! Times are in nanoseconds.

use std::collections::{BTreeMap, BTreeSet};

use bandgap_stats::interval::widened;
use bandgap_stats::outlier::inside_fence;
use bandgap_stats::quantile::mean;
use bandgap_stats::regression::{Plane, relative_plane};

use crate::error::{ModelError, Result};
use crate::hockney::off_the_line;
use crate::signature::Estimate;

/// Repeated times of messages of one length over one distance.
#[derive(Clone, Debug, PartialEq)]
pub struct HopTimes {
    /// Message length.
    pub bytes: u64,
    /// Number of hops of a message, at least 1.
    pub hops: u32,
    /// Times in nanoseconds, one per repetition.
    pub times_ns: Vec<f64>,
}

/// Lengths of one protocol. Parameters are absent if there are too few points; so are times that
/// are not above 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HopsSegment {
    /// Shortest length.
    pub from_bytes: u64,
    /// Longest length.
    pub to_bytes: u64,
    /// Number of points: lengths times distances.
    pub points: usize,
    /// The time of an empty message over one hop, in nanoseconds.
    pub startup: Option<Estimate>,
    /// The time per byte, in nanoseconds.
    pub per_byte: Option<Estimate>,
    /// h, the time per additional hop, in nanoseconds. It may be negative.
    pub per_hop: Option<Estimate>,
    /// Whether the times do not follow the plane: relative residuals exceed 10 % (root mean
    /// square), or the distances deviate from a line in the hops by more than the scatter of their
    /// points, with a probability below one in a thousand. The parameters' intervals, which come
    /// from the scatter about the plane, are too narrow then.
    pub misfit: bool,
    /// t_startup, t_byte and h by the plane of each launch alone, if it gives one.
    pub launches: Vec<Option<[f64; 3]>>,
}

/// Deviations from a line in the hops with a smaller probability than this are not chance.
const RARE: f64 = 1e-3;

/// Relative residuals below this are rounding.
const SMALL_RESIDUAL: f64 = 1e-4;

/// Relative residuals above this root mean square are a misfit.
const LARGE_RESIDUAL: f64 = 0.1;

/// Fits t(n, k) = t_startup + n·t_byte + (k − 1)·h by least relative squares, separately for each
/// segment.
///
/// `ends` are the largest lengths of all segments but the last, ascending: the lengths at which the
/// protocol changes, which [`crate::hockney::fit`] finds for one distance. Repetitions of a length
/// and distance form one point, their mean inside the fence of [`bandgap_stats::outlier`].
/// *Formula*: [`relative_plane`] over n and k − 1; t intervals.
/// *Assumes* independent errors proportional to the time.
/// *Source*: [CoMet, 5.1].
///
/// With several launches, a point is the mean of the launches' means. Each launch has its own fit
/// in each segment, and the interval of a parameter is [`widened`] to include the differences
/// between them. *Assumes* that launches are independent and alike.
///
/// # Errors
/// [`ModelError::BadTime`]; or no times, only one distance, or a confidence that is not strictly
/// between 0 and 1.
pub fn fit(launches: &[&[HopTimes]], ends: &[u64], confidence: f64) -> Result<Vec<HopsSegment>> {
    let data = || launches.iter().copied().flatten();
    ModelError::unless_confidence(confidence)?;
    for of in data() {
        if of.times_ns.is_empty() {
            return Err(ModelError::no_times(of.bytes));
        }
        if let Some(&value) = of.times_ns.iter().find(|time| !(**time > 0.0 && time.is_finite())) {
            return Err(ModelError::BadTime(of.bytes, value));
        }
    }
    let distances: BTreeSet<u32> = data().map(|of| of.hops).collect();
    if distances.len() < 2 {
        let found = distances.len();
        return Err(ModelError::Unusable(format!(
            "{found} distance; at least 2 are needed for the time of a hop, and 3 are better"
        )));
    }
    let mut segments = Vec::new();
    let mut above = None;
    for end in ends.iter().copied().chain([u64::MAX]) {
        let inside = |bytes: u64| above.is_none_or(|above| bytes > above) && bytes <= end;
        let of_launch = |launch: &&[HopTimes]| -> Vec<Timed> {
            launch.iter().filter(|of| inside(of.bytes)).map(timed).collect()
        };
        let each: Vec<Vec<Timed>> = launches.iter().map(of_launch).collect();
        above = Some(end);
        if each.iter().any(|points| !points.is_empty()) {
            segments.push(segment(&each, confidence));
        }
    }
    Ok(segments)
}

/// Length, hops and time of a point.
type Timed = (u64, u32, f64);

fn timed(times: &HopTimes) -> Timed {
    (times.bytes, times.hops, mean(&inside_fence(&times.times_ns)))
}

/// Joins all launches: the mean over those that have the point.
fn joined(launches: &[Vec<Timed>]) -> Vec<Timed> {
    let mut all = BTreeMap::<(u64, u32), Vec<f64>>::new();
    for &(bytes, hops, time) in launches.iter().flatten() {
        all.entry((bytes, hops)).or_default().push(time);
    }
    all.into_iter().map(|((bytes, hops), times)| (bytes, hops, mean(&times))).collect()
}

fn plane(points: &[Timed]) -> Option<Plane> {
    let column = |of: fn(&Timed) -> f64| points.iter().map(of).collect::<Vec<f64>>();
    relative_plane(
        &column(|of| of.0 as f64),
        &column(|of| f64::from(of.1) - 1.0),
        &column(|of| of.2),
    )
}

fn segment(each: &[Vec<Timed>], confidence: f64) -> HopsSegment {
    let points = joined(each);
    let sizes = || points.iter().map(|of| of.0);
    let mut segment = HopsSegment {
        from_bytes: sizes().min().unwrap_or(0),
        to_bytes: sizes().max().unwrap_or(0),
        points: points.len(),
        ..HopsSegment::default()
    };
    let Some(plane) = plane(&points) else { return segment };
    let off = |of: &Timed| off_the_line(of.2, plane.at(of.0 as f64, f64::from(of.1) - 1.0));
    let squares = points.iter().map(|of| off(of).unwrap_or(f64::INFINITY).powi(2));
    let squares: Vec<f64> = squares.collect();
    let rms = mean(&squares).sqrt();
    let is_bent = plane.bend_chance.is_some_and(|chance| chance < RARE) && rms > SMALL_RESIDUAL;
    segment.misfit = rms > LARGE_RESIDUAL || is_bent;
    let own = |launch: &Vec<Timed>| Some(self::plane(launch)?.coefficients);
    segment.launches = each.iter().map(own).collect();
    let launches = &segment.launches;
    let estimate = |at: usize| {
        let (value, estimator) = (plane.coefficients[at], "least relative squares of t(n, k)");
        let own: Vec<f64> = launches.iter().flatten().map(|of| of[at]).collect();
        let interval = widened(value, plane.interval(at, confidence), &own, confidence);
        let (low, high) = (interval.low, interval.high);
        Estimate { value, low, high, samples: points.len(), estimator }
    };
    let [startup, per_byte, per_hop] = [0, 1, 2].map(estimate);
    let positive = |of: Estimate| (of.value > 0.0).then_some(of);
    (segment.startup, segment.per_byte) = (positive(startup), positive(per_byte));
    segment.per_hop = Some(per_hop);
    segment
}

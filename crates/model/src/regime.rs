//! The straight parts of a curve: the send-only regime at small M, the steady state at large M.

use crate::curve::{Curve, CurvePoint, Stretch};
use crate::scatter::Scatter;

/// A point belongs to a line if it is within this many standard errors of it …
const ERRORS: f64 = 3.0;

/// … or, in the send-only regime, within this share of the line's longest time. The times of a real
/// interface deviate from a line by more than the error of many batches.
const SEND_ONLY_TOLERANCE: f64 = 0.05;

/// Number of its standard deviations that χ² does not exceed by noise.
const NOISE: f64 = 6.0;

/// Maximum number of first messages that may cost something else than those after them.
const FIRST_MESSAGES: usize = 2;

/// Deviation that a steady line tolerates beyond noise.
struct Tolerance {
    /// Distance of the smallest M from the line through the others, as a share of the step between
    /// them.
    slope: f64,
    /// Distance of the others from their line, as a share of the elapsed time.
    level: f64,
}

/// A strict line is tried first; then one for a machine that changes a little from one M to the
/// next, whose interval is widened by the scatter of the points.
const TOLERANCES: [Tolerance; 2] =
    [Tolerance { slope: 0.01, level: 0.005 }, Tolerance { slope: 0.05, level: 0.03 }];

/// The longest run of small M on one line before the first reply can return, M·os below `limit`;
/// `Err` with the number of such M if there are fewer than two.
///
/// One or two first messages may cost more or less, so a run may begin after them. Among several
/// runs, the one with the most points is chosen, and among equals the first. Two points are always
/// on a line: if no run has three points, the first two are taken, and other pairs are equally good
/// ([`rivals`]).
pub(crate) fn send_only(curve: &Curve, limit: f64) -> Result<Stretch, usize> {
    let runs = (0..=FIRST_MESSAGES).filter_map(|first| run_from(curve, first, limit));
    // Among equals, `max_by_key` returns the last.
    let best = runs.rev().max_by_key(|run| run.points.len());
    best.ok_or_else(|| {
        // Without a line os is unknown: at most the first point is certain to be in the regime.
        curve.points.iter().filter(|p| p.mean < limit).count().min(1)
    })
}

/// Other lines that the points of the send-only regime allow, if `chosen` has only two points: the
/// lines through each later pair of neighbours.
pub(crate) fn rivals(curve: &Curve, chosen: &Stretch, limit: f64) -> Vec<Stretch> {
    if chosen.points.len() != 2 {
        return Vec::new();
    }
    let in_time = |run: &Stretch| is_in_time(run, limit);
    curve
        .points
        .windows(2)
        .skip(1)
        .map_while(|pair| Stretch::through(pair).filter(in_time))
        .collect()
}

/// Finds whether messages after `run` are off its line, although they are sent before `limit` and
/// are at most `most`. Returns the first such M, the last point, and the cost per message from the
/// end of the run to that point. All points between must be off: a few could be disturbances.
pub(crate) fn bends(
    curve: &Curve,
    run: &Stretch,
    limit: f64,
    most: f64,
) -> Option<(u64, CurvePoint, f64)> {
    let end = run.points.last().filter(|_| !run.is_single())?;
    let is_between =
        |p: &&CurvePoint| p.messages > end.messages && p.messages <= most && p.mean < limit;
    let between: Vec<&CurvePoint> = curve.points.iter().filter(is_between).collect();
    let is_off = |p: &&CurvePoint| {
        let (distance, error) = run.distance(p);
        distance > (ERRORS * error).max(SEND_ONLY_TOLERANCE * p.mean)
    };
    let (first, last) = (between.first()?, between.last()?);
    let cost = (last.mean - end.mean) / (last.messages - end.messages);
    between.iter().all(is_off).then_some((first.messages as u64, **last, cost))
}

/// Whether the last message of a run is issued before `limit`, at the run's cost per message.
fn is_in_time(run: &Stretch, limit: f64) -> bool {
    run.points.last().is_some_and(|last| last.messages * run.slope() < limit)
}

/// The longest run from this point on with all points on their own line. A shorter run may fail:
/// few points that are a little off make a line that is far off.
fn run_from(curve: &Curve, first: usize, limit: f64) -> Option<Stretch> {
    let points = curve.points.get(first..)?;
    let in_time = |run: &Stretch| is_in_time(run, limit);
    let mut run = Stretch::through(points.get(..2)?).filter(in_time)?;
    for end in 3..=points.len() {
        let Some(longer) = Stretch::through(&points[..end]).filter(in_time) else { break };
        if is_straight(&longer) {
            run = longer;
        }
    }
    Some(run)
}

/// Whether all points of a run are on its line: within their noise, or within a share of the run's
/// longest time.
fn is_straight(run: &Stretch) -> bool {
    let whole = run.points.iter().map(|point| point.mean).fold(0.0, f64::max);
    let off = |point: &CurvePoint| (point.mean - run.at(point.messages)).abs();
    run.points.iter().all(|p| off(p) <= (ERRORS * p.error).max(SEND_ONLY_TOLERANCE * whole))
}

/// The longest run of the largest M on one line, among points with M above `beyond`, and whether
/// further points confirm its slope by the stricter tolerance; `None` for fewer than two points.
///
/// A run is on one line if its smallest M, where a knee shows most, fits the line through the
/// others, and the others fit their line together. From a long run the smallest M is dropped: a
/// knee just above it may be too small to see in the noise, and still change the slope.
pub(crate) fn steady(curve: &Curve, beyond: f64) -> Option<(Stretch, bool)> {
    let first = curve.points.partition_point(|p| p.messages <= beyond);
    let points = &curve.points[first..];
    let last_two = points.len().checked_sub(2)?;
    let line = |tolerance: &Tolerance| {
        (0..last_two).find(|&start| on_one_line(&points[start..], tolerance))
    };
    let strict = line(&TOLERANCES[0]);
    let start = strict.or_else(|| line(&TOLERANCES[1])).unwrap_or(last_two);
    let kept = if points.len() - start >= 4 { start + 1 } else { start };
    Some((Stretch::through(&points[kept..])?, strict.is_some()))
}

/// Whether at least three points are on one line.
fn on_one_line(points: &[CurvePoint], tolerance: &Tolerance) -> bool {
    let (first, others) = (&points[0], &points[1..]);
    let Some(line) = Stretch::through(others) else { return false };
    let (distance, error) = line.distance(first);
    let step = others[0].messages - first.messages;
    if distance > f64::max(ERRORS * error, tolerance.slope * step * line.slope().abs()) {
        return false;
    }
    let off = |p: &CurvePoint| {
        let off = (p.mean - line.at(p.messages)).abs() - tolerance.level * p.mean;
        off.max(0.0) / p.error
    };
    Scatter::of(others.iter().map(off)).is_none_or(|scatter| !scatter.is_beyond(NOISE))
}

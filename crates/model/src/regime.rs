//! Where a curve is straight: the send-only regime at small M, the steady state at large M.

use crate::curve::{Curve, Point, Stretch};
use crate::scatter::Scatter;

/// A point belongs to a line if it is within this many standard errors of it …
const ERRORS: f64 = 3.0;

/// … or, in the send-only regime, within this share of the line's longest time. The times of a real
/// interface are not as straight as many batches are precise.
const SEND_ONLY_TOLERANCE: f64 = 0.05;

/// What a χ² does not exceed by noise, in its standard deviations.
const NOISE: f64 = 6.0;

/// First messages that may differ from those behind them, at most.
const FIRST_MESSAGES: usize = 2;

/// What a steady line tolerates beyond noise.
struct Tolerance {
    /// Distance of the smallest M from the line through the others, as a share of the step between.
    slope: f64,
    /// Distance of the others from their line, as a share of the elapsed time.
    level: f64,
}

/// A strict line is looked for first, then one for a machine that changes a little between one M and
/// the next, whose interval is wider by the scatter of the points.
const TOLERANCES: [Tolerance; 2] =
    [Tolerance { slope: 0.01, level: 0.005 }, Tolerance { slope: 0.05, level: 0.03 }];

/// The longest run of small M on one line before the first reply can be back, M·os below `limit`;
/// `Err` with the number of such M if there are fewer than two.
///
/// One or two first messages may cost more, or less: a run may begin behind them. Of several runs the
/// one with the most points is taken, and of equals that which begins first. But two points are on
/// every line: where no run has three, the first two are taken, and other pairs are as good
/// ([`rivals`]).
pub(crate) fn send_only(curve: &Curve, limit: f64) -> Result<Stretch, usize> {
    let runs = (0..=FIRST_MESSAGES).filter_map(|first| run_from(curve, first, limit));
    // The last of equals is the greatest.
    let best = runs.rev().max_by_key(|run| run.points.len());
    best.ok_or_else(|| {
        // Without a line os is not known: at most the first point is sure to be in the regime.
        curve.points.iter().filter(|p| p.mean < limit).count().min(1)
    })
}

/// Lines that the points of the send-only regime allow as well as `chosen`, where that has only two
/// points: those through each further two neighbours.
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

/// Where messages behind `run` are off its line, though they are sent before `limit`, in time, and are no more than
/// `most`: the first such M, and the last point, with what a message costs from the run's end to there. All
/// points between are off: were only some, those could be disturbed ones.
pub(crate) fn bends(
    curve: &Curve,
    run: &Stretch,
    limit: f64,
    most: f64,
) -> Option<(u64, Point, f64)> {
    let end = run.points.last().filter(|_| !run.is_single())?;
    let is_between = |p: &&Point| p.messages > end.messages && p.messages <= most && p.mean < limit;
    let between: Vec<&Point> = curve.points.iter().filter(is_between).collect();
    let is_off = |p: &&Point| {
        let (distance, error) = run.distance(p);
        distance > (ERRORS * error).max(SEND_ONLY_TOLERANCE * p.mean)
    };
    let (first, last) = (between.first()?, between.last()?);
    let cost = (last.mean - end.mean) / (last.messages - end.messages);
    between.iter().all(is_off).then_some((first.messages as u64, **last, cost))
}

/// Whether the last message of a run is issued before `limit`, at the run's cost for each.
fn is_in_time(run: &Stretch, limit: f64) -> bool {
    run.points.last().is_some_and(|last| last.messages * run.slope() < limit)
}

/// The longest run from this point on whose points all lie on their own line. A shorter one may not:
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

/// Whether all points of a run are on its line: within their noise, or within a share of the whole
/// run's time.
fn is_straight(run: &Stretch) -> bool {
    let whole = run.points.iter().map(|point| point.mean).fold(0.0, f64::max);
    let off = |point: &Point| (point.mean - run.at(point.messages)).abs();
    run.points.iter().all(|p| off(p) <= (ERRORS * p.error).max(SEND_ONLY_TOLERANCE * whole))
}

/// The longest run of the largest M on one line, of the points with M above `beyond`, and whether
/// further points confirm its slope by the stricter tolerance; `None` for fewer than two.
///
/// A run is on one line if its smallest M, where a knee shows most, fits the line through the others,
/// and the others fit their line together. Of a long run the smallest M is left out: a knee just above
/// it may be too small to see in the noise, and still change the slope.
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

/// Whether at least three points lie on one line.
fn on_one_line(points: &[Point], tolerance: &Tolerance) -> bool {
    let (first, others) = (&points[0], &points[1..]);
    let Some(line) = Stretch::through(others) else { return false };
    let (distance, error) = line.distance(first);
    let step = others[0].messages - first.messages;
    if distance > f64::max(ERRORS * error, tolerance.slope * step * line.slope().abs()) {
        return false;
    }
    let off = |p: &Point| {
        let off = (p.mean - line.at(p.messages)).abs() - tolerance.level * p.mean;
        off.max(0.0) / p.error
    };
    Scatter::of(others.iter().map(off)).is_none_or(|scatter| !scatter.is_beyond(NOISE))
}

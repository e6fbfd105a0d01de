//! Where a curve is straight: the send-only regime at small M, the steady state at large M.

use crate::curve::{Curve, Point, Stretch, beyond_noise};

/// A point belongs to a line if it is within this many standard errors of it …
const ERRORS: f64 = 3.0;

/// … or, in the send-only regime, within this share of the elapsed time. The times of a real interface
/// are not as straight as many batches are precise.
const SEND_ONLY_TOLERANCE: f64 = 0.05;

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

/// The longest run of the smallest M on one line before the first reply can be back, M·os below
/// `limit`; `Err` with the number of such M if there are fewer than two.
///
/// The first point is left out where only that makes a run of three or more: a first message may cost
/// more.
pub(crate) fn send_only(curve: &Curve, limit: f64) -> Result<Stretch, usize> {
    let from_first = run_from(curve, 0, limit);
    let long_enough = |run: &Option<Stretch>| run.as_ref().is_some_and(|r| r.points.len() >= 3);
    let best = if long_enough(&from_first) {
        from_first
    } else {
        let from_second = run_from(curve, 1, limit);
        if long_enough(&from_second) { from_second } else { from_first }
    };
    best.ok_or_else(|| {
        // Without a line os is not known: at most the first point is sure to be in the regime.
        curve.points.iter().filter(|p| p.mean < limit).count().min(1)
    })
}

fn run_from(curve: &Curve, first: usize, limit: f64) -> Option<Stretch> {
    let points = curve.points.get(first..)?;
    let in_time =
        |run: &Stretch| run.points.last().is_some_and(|last| last.messages * run.slope() < limit);
    let mut run = Stretch::through(points.get(..2)?).filter(in_time)?;
    for end in 3..=points.len() {
        let next = &points[end - 1];
        let (distance, error) = run.distance(next);
        if distance > (ERRORS * error).max(SEND_ONLY_TOLERANCE * next.mean) {
            break;
        }
        match Stretch::through(&points[..end]).filter(in_time) {
            Some(longer) => run = longer,
            None => break,
        }
    }
    Some(run)
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
    let squares: f64 = others
        .iter()
        .map(|p| {
            let off = (p.mean - line.at(p.messages)).abs() - tolerance.level * p.mean;
            (off.max(0.0) / p.error).powi(2)
        })
        .sum();
    squares <= beyond_noise((others.len() - 2) as f64)
}

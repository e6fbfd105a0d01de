//! Sensitivity of the end of a schedule to the parameters.

use std::cell::RefCell;

use super::GoalReplay;
use super::clock::{Clock, Leaning, Trace, Traced};
use super::engine::replay;
use super::error::{GoalError, Result};
use super::loggops::{LATENCY, Loggops};
use super::path::{CriticalPath, path};
use super::schedule::Goal;

/// How the end T of a schedule depends on the parameters, at their present values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// Derivatives with respect to L, o, g and G, in the order of [`LETTERS`](super::LETTERS).
    pub derivatives: [Derivative; 4],
    /// The critical path that led to T.
    pub path: CriticalPath,
    /// The next L, in picoseconds, at which T leaves its tangent; `None` if there is none up to
    /// 100·T. If messages contend, T need not be convex: it may have left the tangent before, and
    /// come back.
    pub critical_latency: Option<i64>,
    /// Increase of L, in picoseconds, at which T has grown by 1 %; `None` without messages. If T is
    /// not convex, it may have grown by more before.
    pub tolerance: Option<i64>,
}

/// Derivative of T: a plain number, or for G a number of bytes. Both sides are exact; they differ
/// if equal times grow differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Derivative {
    /// For a decrease of the parameter.
    pub left: i64,
    /// For an increase of the parameter.
    pub right: i64,
    /// Whether T jumps: an arbitrarily small change of the parameter reorders simultaneous events.
    pub jumps: bool,
}

/// Replays a schedule with times that know what led to them and how they grow. If equal times grow
/// differently, it is replayed again for each side of the parameter.
///
/// In that replay a time is two numbers: the time itself, and its change by an infinitesimal change
/// of the parameter. The second decides between equal times, so each side gives the derivative for
/// its own order of events.
///
/// # Errors
/// As [`replay_goal`](super::replay_goal).
pub fn sensitivity(goal: &Goal, loggops: &Loggops) -> Result<(GoalReplay, Sensitivity)> {
    let mut traced = replay(goal, loggops, Traced::new(loggops))?;
    let last = last(&traced.finish);
    for at in &traced.finish {
        traced.clock.meet(last.1, at.1);
    }
    let end = last.1.picoseconds;
    let path = path(goal, loggops, &traced.clock, last);
    let ends = traced.finish.iter().map(|(rank, at)| (*rank, at.picoseconds)).collect();
    let (messages, ambiguous) = (traced.messages, traced.ambiguous);
    let replayed = GoalReplay { ranks: goal.size(), ends, messages, lost: 0, ambiguous };
    let ties = traced.clock.ties;
    drop(traced);
    let [latency, ..] = loggops.parameters;
    let point = SlopeState {
        here: (latency, end),
        known: [0, 1, 2, 3].map(|of| Some(last.1.growth[of]).filter(|_| !ties[of])),
        is_least: [0, 1, 2, 3].map(|of| loggops.parameters[of] == 0),
        has_messages: replayed.messages > 0,
    };
    let towards = |towards, at| {
        let mut loggops = *loggops;
        loggops.parameters[LATENCY] = at;
        let replayed = replay(goal, &loggops, Leaning { loggops: &loggops, towards })?;
        let last = replayed.finish.into_iter().map(|of| of.1).max().unwrap_or_default();
        Ok(Line { at, end: last.picoseconds, slope: last.growth })
    };
    let is_late = |error: &GoalError| matches!(error, GoalError::TooLong(_)) || error.is_endless();
    // It searches with the slopes from the beginning.
    Ok((replayed, Sensitivity::at(point, path, towards, |_| Ok(None), is_late)?))
}

/// Present values.
pub(crate) struct SlopeState {
    /// L and T.
    pub here: (i64, i64),
    /// Derivatives that are known to be the same on both sides.
    pub known: [Option<i64>; 4],
    /// Whether a parameter is 0 and so cannot decrease.
    pub is_least: [bool; 4],
    pub has_messages: bool,
}

impl Sensitivity {
    /// `towards` gives T and its slope at an L, with an infinitesimal increase (1) or decrease (−1)
    /// of a parameter. `end_at` gives T alone, if that is faster. An error accepted by `is_late`
    /// means that T is later than everything of interest, or that the schedule does not end.
    pub(crate) fn at<E>(
        point: SlopeState,
        path: CriticalPath,
        towards: impl Fn((usize, i64), i64) -> Result<Line, E>,
        end_at: impl Fn(i64) -> Result<Option<i64>, E>,
        is_late: impl Fn(&E) -> bool,
    ) -> Result<Self, E> {
        let (latency, end) = point.here;
        let towards = |direction, at| match towards(direction, at) {
            Err(error) if is_late(&error) => Ok(Line { at, end: i64::MAX, slope: 0 }),
            there => there,
        };
        let mut derivatives = [Derivative::default(); 4];
        for (parameter, derivative) in derivatives.iter_mut().enumerate() {
            if let Some(slope) = point.known[parameter] {
                *derivative = Derivative { left: slope, right: slope, jumps: false };
                continue;
            }
            let more = towards((parameter, 1), latency)?;
            let less = match point.is_least[parameter] {
                true => None,
                false => Some(towards((parameter, -1), latency)?),
            };
            let left = less.map_or(more.slope, |less| -less.slope);
            let jumps = [Some(more), less].iter().flatten().any(|side| side.end != end);
            *derivative = Derivative { left, right: more.slope, jumps };
        }
        let here = Line { at: latency, end, slope: derivatives[LATENCY].right };
        let seen = RefCell::new(Vec::<Line>::new());
        let curve = |at| {
            let known = seen.borrow().iter().copied().find(|of| of.at == at);
            if let Some(known) = known {
                return Ok(known);
            }
            let there = towards((LATENCY, -1), at)?;
            let there = Line { slope: -there.slope, ..there };
            seen.borrow_mut().push(there);
            Ok(there)
        };
        let (critical_latency, tolerance) =
            latencies(here, point.has_messages, &seen, &curve, end_at)?;
        Ok(Self { derivatives, path, critical_latency, tolerance })
    }
}

/// The next L at which T leaves its tangent, and the increase of L at which T has grown by 1 %, as
/// in [`Sensitivity`].
fn latencies<E>(
    here: Line,
    has_messages: bool,
    seen: &RefCell<Vec<Line>>,
    curve: &impl Fn(i64) -> Result<Line, E>,
    end_at: impl Fn(i64) -> Result<Option<i64>, E>,
) -> Result<(Option<i64>, Option<i64>), E> {
    let Line { at: latency, end, slope } = here;
    let farthest = latency.saturating_add(end.saturating_mul(100));
    let on_tangent = |of: Line| i128::from(of.end) == here.value(of.at) && of.slope == here.slope;
    // If T is convex and on the tangent far away, it is on the tangent before.
    let is_straight = end_at(farthest)?.is_some_and(|end| i128::from(end) == here.value(farthest));
    let leaves = match is_straight {
        true => farthest,
        false => last_on(here, (latency, farthest), on_tangent, curve)?,
    };
    // On the tangent, T is known.
    let known = (end / 100).checked_div(slope).filter(|may| latency + may <= leaves);
    let most = Line { at: latency, end: end + end / 100, slope: 0 };
    let tolerance = match known {
        _ if !has_messages => None,
        Some(may) => Some(may),
        None => {
            let below = |of: Line| of.end <= most.end;
            // A known L at which T is above the limit.
            let above = seen.borrow().iter().filter(|of| !below(**of)).map(|of| of.at).min();
            let first = above.unwrap_or(i64::MAX).min(latency.max(most.end) + 1);
            Some(last_on(most, (latency, first), below, curve)? - latency)
        }
    };
    Ok((Some(leaves).filter(|at| *at < farthest), tolerance))
}

/// The first of the ranks that end last.
pub(super) fn last(finish: &[(u32, Trace)]) -> (u32, Trace) {
    let all = finish.iter().copied();
    all.reduce(|best, one| if one.1 > best.1 { one } else { best }).unwrap_or_default()
}

/// T and its slope at an L.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub at: i64,
    pub end: i64,
    pub slope: i64,
}

impl Line {
    fn value(&self, at: i64) -> i128 {
        i128::from(self.end) + i128::from(self.slope) * i128::from(at - self.at)
    }
}

/// Largest number of replays in a search.
const MOST: usize = 64;

/// An L from `low` to `most` at which `holds` is true and after which it is false. If T is convex,
/// it is the greatest such L, and the tangent at a greater L meets `line` there or later; that
/// meeting point is the next guess. Otherwise the next guess is the geometric mean of the
/// distances.
fn last_on<E>(
    line: Line,
    (mut low, most): (i64, i64),
    holds: impl Fn(Line) -> bool,
    curve: &impl Fn(i64) -> Result<Line, E>,
) -> Result<i64, E> {
    let (mut at, mut high, mut is_guess) = (most, most, false);
    for _ in 0..MOST {
        let there = curve(at)?;
        let above = i128::from(there.end) - line.value(at);
        if holds(there) {
            if at == most || is_guess && !holds(curve(at + 1)?) {
                return Ok(at);
            }
            low = at;
        } else {
            high = at;
        }
        if high - low <= 1 {
            break;
        }
        let steeper = i128::from(there.slope) - i128::from(line.slope);
        let back = (above + steeper - 1).checked_div(steeper).filter(|_| above > 0 && steeper > 0);
        let guess = back.map(|back| i128::from(at) - back).filter(|guess| *guess > low.into());
        is_guess = guess.is_some();
        let distance = |at: i64| (at - line.at) as f64;
        let middle = line.at + (distance(low).max(1.0) * distance(high)).sqrt() as i64;
        at = guess.map_or(middle.clamp(low + 1, high - 1), |guess| guess as i64);
    }
    Ok(low)
}

//! How the end of a schedule depends on the parameters.

use std::cell::RefCell;

use super::GoalReplay;
use super::clock::{Clock, Leaning, Trace, Traced};
use super::engine::replay;
use super::error::{GoalError, Result};
use super::loggops::{LATENCY, Loggops};
use super::path::{CriticalPath, path};
use super::schedule::Goal;

/// How the end T of a schedule depends on the parameters, at the point where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// Derivatives by L, o, g and G, as [`LETTERS`](super::LETTERS).
    pub derivatives: [Derivative; 4],
    /// What T came from.
    pub path: CriticalPath,
    /// The next L, in picoseconds, at which T leaves its tangent; none up to a hundred times T. Where messages contend T
    /// need not be convex: it may have left the tangent, and come back, before.
    pub critical_latency: Option<i64>,
    /// By how many picoseconds L may grow until T has grown by 1 %; none without messages. As above, it may have grown
    /// by more before.
    pub tolerance: Option<i64>,
}

/// A derivative of T: a plain number, of G in bytes. Both sides are exact, and differ where times are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Derivative {
    /// For a parameter that becomes less.
    pub left: i64,
    /// For one that becomes greater.
    pub right: i64,
    /// Whether T jumps: however little the parameter changes, events of one time change places.
    pub jumps: bool,
}

/// Replays a schedule with times that know what they came from and by how much they grow. Where times are equal that
/// grow differently, it is replayed again for each side of the parameter.
///
/// A time is there two numbers: when it is, and what a change of a parameter adds that is smaller than anything. The
/// second decides between times that are equal, so each side is the derivative of its own order of events.
///
/// # Errors
/// As [`replay_goal`](super::replay_goal).
pub fn sensitivity(goal: &Goal, loggops: &Loggops) -> Result<(GoalReplay, Sensitivity)> {
    let mut traced = replay(goal, loggops, Traced::new(loggops))?;
    let last = last(&traced.finish);
    for at in &traced.finish {
        traced.clock.meet(last.1, *at);
    }
    let end = last.1.picoseconds;
    let path = path(goal, loggops, &traced.clock, last);
    let finish = traced.finish.iter().map(|at| at.picoseconds).collect();
    let replayed =
        GoalReplay { finish, messages: traced.messages, lost: 0, ambiguous: traced.ambiguous };
    let ties = traced.clock.ties;
    drop(traced);
    let [latency, ..] = loggops.parameters;
    let point = Point {
        here: (latency, end),
        known: [0, 1, 2, 3].map(|of| Some(last.1.growth[of]).filter(|_| !ties[of])),
        is_least: [0, 1, 2, 3].map(|of| loggops.parameters[of] == 0),
        has_messages: replayed.messages > 0,
    };
    let towards = |towards, at| {
        let mut loggops = *loggops;
        loggops.parameters[LATENCY] = at;
        let replayed = replay(goal, &loggops, Leaning { loggops: &loggops, towards })?;
        let last = replayed.finish.into_iter().max().unwrap_or_default();
        Ok(Line { at, end: last.picoseconds, slope: last.growth })
    };
    let is_late = |error: &GoalError| matches!(error, GoalError::TooLong(_)) || error.is_endless();
    // Its search goes by slopes from the beginning.
    Ok((replayed, Sensitivity::at(point, path, towards, |_| Ok(None), is_late)?))
}

/// The parameters as they are.
pub(crate) struct Point {
    /// L and T.
    pub here: (i64, i64),
    /// The derivatives that are the same on both sides.
    pub known: [Option<i64>; 4],
    /// Whether a parameter is 0: nothing is less.
    pub is_least: [bool; 4],
    pub has_messages: bool,
}

impl Sensitivity {
    /// `towards` gives T, and what it grows by, at an L and with a parameter that changes by very little: more (1) or
    /// less (−1); `end` gives T alone, where that takes less time. An error that `is_late` says that T is later than
    /// all that is asked for, or that nothing ends.
    pub(crate) fn at<E>(
        point: Point,
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

/// The next L at which T leaves its tangent, and by how much L may grow until T has grown by 1 %: as in [`Sensitivity`].
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
    // Where T is convex and on the tangent far away, it is so before.
    let is_straight = end_at(farthest)?.is_some_and(|end| i128::from(end) == here.value(farthest));
    let leaves = match is_straight {
        true => farthest,
        false => last_on(here, (latency, farthest), on_tangent, curve)?,
    };
    // On the tangent it is known.
    let known = (end / 100).checked_div(slope).filter(|may| latency + may <= leaves);
    let most = Line { at: latency, end: end + end / 100, slope: 0 };
    let tolerance = match known {
        _ if !has_messages => None,
        Some(may) => Some(may),
        None => {
            let below = |of: Line| of.end <= most.end;
            // Where it is known to be above, and is not before.
            let above = seen.borrow().iter().filter(|of| !below(**of)).map(|of| of.at).min();
            let first = above.unwrap_or(i64::MAX).min(latency.max(most.end) + 1);
            Some(last_on(most, (latency, first), below, curve)? - latency)
        }
    };
    Ok((Some(leaves).filter(|at| *at < farthest), tolerance))
}

/// The first of the ranks that end last.
pub(super) fn last(finish: &[Trace]) -> (u32, Trace) {
    let all = (0..).zip(finish.iter().copied());
    all.reduce(|best, one| if one.1 > best.1 { one } else { best }).unwrap_or_default()
}

/// T at an L, and its slope there.
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

/// Most replays of a search.
const MOST: usize = 64;

/// An L from `low` to `most` at which T `holds` and behind which it does not: the greatest one where T is convex, and
/// then the tangent at a greater L meets `line` there or behind it: that is the next guess. Where it leads nowhere, it is
/// half way, in factors of the distance from `line`.
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

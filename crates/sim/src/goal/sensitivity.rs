//! How the end of a schedule depends on the parameters.

use super::GoalReplay;
use super::clock::{Clock, Leaning, Leant, Trace, Traced};
use super::engine::replay;
use super::error::GoalError;
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
    /// The next L, in picoseconds, at which dT/dL is another one; none up to a hundred times T.
    pub critical_latency: Option<i64>,
    /// By how many picoseconds L may grow until T has grown by 1 %; none without messages.
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
pub fn sensitivity(goal: &Goal, loggops: &Loggops) -> Result<(GoalReplay, Sensitivity), GoalError> {
    let mut traced = replay(goal, loggops, Traced::new(loggops))?;
    let last = last(&traced.finish);
    for at in &traced.finish {
        traced.clock.meet(last.1, *at);
    }
    let end = last.1.picoseconds;
    let path = path(goal, loggops, &traced.clock, last);
    let ties = traced.clock.ties;
    let finish = traced.finish.iter().map(|at| at.picoseconds).collect();
    let replayed = GoalReplay { finish, messages: traced.messages };
    drop(traced);
    let mut derivatives = last.1.growth.map(|by| Derivative { left: by, right: by, jumps: false });
    for parameter in (0..derivatives.len()).filter(|of| ties[*of]) {
        let [less, more] = [-1, 1].map(|sign| towards(goal, loggops, (parameter, sign)));
        let (less, more) = (less?, more?);
        // Nothing is less than 0.
        let is_least = loggops.parameters[parameter] == 0;
        derivatives[parameter] = Derivative {
            left: if is_least { more.growth } else { -less.growth },
            right: more.growth,
            jumps: [less, more].iter().any(|side| side.picoseconds != end),
        };
    }
    let latency = loggops.parameters[LATENCY];
    let here = Line { at: latency, end, slope: derivatives[LATENCY].right };
    let curve = |at: i64| {
        let mut loggops = *loggops;
        loggops.parameters[LATENCY] = at;
        match towards(goal, &loggops, (LATENCY, -1)) {
            Ok(time) => Ok(Line { at, end: time.picoseconds, slope: -time.growth }),
            // It is later than all that is asked for.
            Err(GoalError::TooLong(_)) => Ok(Line { at, end: i64::MAX, slope: 0 }),
            Err(error) => Err(error),
        }
    };
    let (critical_latency, tolerance) = latencies(here, replayed.messages > 0, &curve)?;
    Ok((replayed, Sensitivity { derivatives, path, critical_latency, tolerance }))
}

/// The next L at which T leaves its tangent, and by how much L may grow until T has grown by 1 %: as in [`Sensitivity`].
pub(crate) fn latencies<E>(
    here: Line,
    has_messages: bool,
    curve: &impl Fn(i64) -> Result<Line, E>,
) -> Result<(Option<i64>, Option<i64>), E> {
    let Line { at: latency, end, slope } = here;
    let farthest = latency.saturating_add(end.saturating_mul(100));
    let leaves = last_below(here, latency, farthest, curve)?;
    let most = Line { at: latency, end: end + end / 100, slope: 0 };
    // On the tangent it is known.
    let known = (end / 100).checked_div(slope).filter(|may| latency + may <= leaves);
    let tolerance = match known {
        _ if !has_messages => None,
        Some(may) => Some(may),
        None => Some(last_below(most, latency, latency.max(most.end) + 1, curve)? - latency),
    };
    Ok((Some(leaves).filter(|at| *at < farthest), tolerance))
}

/// The first of the ranks that end last.
pub(super) fn last(finish: &[Trace]) -> (u32, Trace) {
    let all = (0..).zip(finish.iter().copied());
    all.fold((0, Trace::default()), |best, one| if one.1 > best.1 { one } else { best })
}

/// T if a parameter changes by very little.
fn towards(goal: &Goal, loggops: &Loggops, towards: (usize, i64)) -> Result<Leant, GoalError> {
    let replayed = replay(goal, loggops, Leaning { loggops, towards })?;
    Ok(replayed.finish.into_iter().max().unwrap_or_default())
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

/// An L up to `high` at which T is not above `line`: the greatest one where T is convex. Its tangent at a greater L then
/// meets the line there, or behind it: that is the next guess. Where it leads nowhere, it is half way.
fn last_below<E>(
    line: Line,
    mut low: i64,
    mut high: i64,
    curve: &impl Fn(i64) -> Result<Line, E>,
) -> Result<i64, E> {
    let (mut at, mut is_guess) = (high, true);
    for _ in 0..MOST {
        let there = curve(at)?;
        let above = i128::from(there.end) - line.value(at);
        if above <= 0 && is_guess {
            return Ok(at);
        }
        *(if above > 0 { &mut high } else { &mut low }) = at;
        if high - low <= 1 {
            break;
        }
        let steeper = i128::from(there.slope) - i128::from(line.slope);
        let back = (above + steeper - 1).checked_div(steeper).filter(|_| above > 0 && steeper > 0);
        let guess = back.map(|back| i128::from(at) - back).filter(|guess| *guess > low.into());
        is_guess = guess.is_some();
        at = guess.map_or(low + (high - low) / 2, |guess| guess as i64);
    }
    Ok(low)
}

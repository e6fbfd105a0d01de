//! How the end of a schedule depends on the parameters.

use super::clock::{Clock, Slope, Sloped, Traced};
use super::engine::replay;
use super::error::GoalError;
use super::loggops::{Loggops, Parameter};
use super::path::{CriticalPath, path};
use super::schedule::Goal;

/// How the end T of a schedule depends on the parameters, at the point where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// Derivatives, in the order of [`Parameter::ALL`].
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

/// Replays a schedule with times that know what they came from, and how they grow with each parameter.
///
/// A time is then two numbers: when it is, and what a change of a parameter adds that is smaller than anything. The
/// second decides between times that are equal, so each side is the derivative of that very order of events.
///
/// # Errors
/// As [`replay_goal`](super::replay_goal).
pub fn sensitivity(goal: &Goal, loggops: &Loggops) -> Result<Sensitivity, GoalError> {
    let traced = replay(goal, loggops, Traced { loggops, past: Vec::new() })?;
    let (rank, last) = last::<Traced<'_>>(&traced.finish);
    let end = last.picoseconds;
    let path = path(goal, loggops, &traced.clock, (rank, last));
    let messages = traced.messages;
    drop(traced);
    let mut derivatives = [Derivative::default(); 4];
    for (of, parameter) in derivatives.iter_mut().zip(Parameter::ALL) {
        let (left, right) =
            (sloped(goal, loggops, parameter, -1)?, sloped(goal, loggops, parameter, 1)?);
        let jumps = [left, right].iter().any(|side| side.picoseconds != end);
        // Nothing is less than 0.
        let is_least = loggops.value(parameter) == 0;
        let left = if is_least { right.growth } else { -left.growth };
        *of = Derivative { left, right: right.growth, jumps };
    }
    let line = Line { at: loggops.latency, end, slope: derivatives[0].right };
    let curve = |latency: i64| {
        let slope = sloped(goal, &Loggops { latency, ..*loggops }, Parameter::Latency, -1)?;
        Ok(Line { at: latency, end: slope.picoseconds, slope: -slope.growth })
    };
    let farthest = farthest(&line, messages);
    Ok(Sensitivity {
        derivatives,
        path,
        critical_latency: critical_latency(line, farthest, curve)?,
        tolerance: if messages == 0 { None } else { Some(tolerance(line, curve)?) },
    })
}

/// The first of the ranks that end last.
fn last<C: Clock>(finish: &[C::At]) -> (u32, C::At) {
    let mut best = (0, C::At::default());
    for (rank, at) in (0..).zip(finish) {
        if *at > best.1 {
            best = (rank, *at);
        }
    }
    best
}

fn sloped(
    goal: &Goal,
    loggops: &Loggops,
    parameter: Parameter,
    sign: i64,
) -> Result<Slope, GoalError> {
    let replayed = replay(goal, loggops, Sloped { loggops, parameter, sign })?;
    Ok(last::<Sloped<'_>>(&replayed.finish).1)
}

/// T at an L, and its slope there.
#[derive(Clone, Copy)]
struct Line {
    at: i64,
    end: i64,
    slope: i64,
}

impl Line {
    fn is_through(&self, other: &Line) -> bool {
        let rise = i128::from(self.slope) * i128::from(other.at - self.at);
        i128::from(self.end) + rise == i128::from(other.end)
    }
}

/// Most replays of a search.
const MOST: usize = 64;

/// How far L may be looked at: a hundred times T, if virtual time has room for so many latencies.
fn farthest(line: &Line, messages: u64) -> i64 {
    let room = i64::MAX / 4 / i64::try_from(messages + 2).unwrap_or(i64::MAX);
    line.at.saturating_add(line.end.saturating_mul(100)).min(room)
}

/// Where T leaves its tangent to the right. Where T is convex, this and the tangent at a greater L meet at the end
/// of the tangent, or behind it; that is where the next search begins.
fn critical_latency(
    line: Line,
    farthest: i64,
    curve: impl Fn(i64) -> Result<Line, GoalError>,
) -> Result<Option<i64>, GoalError> {
    let mut to = farthest;
    for search in 0..MOST {
        if to <= line.at {
            return Ok((search > 0).then_some(line.at));
        }
        let there = curve(to)?;
        if line.is_through(&there) {
            return Ok((search > 0).then_some(to));
        }
        let rise = i128::from(line.slope) * i128::from(to - line.at);
        let above = i128::from(there.end) - i128::from(line.end) - rise;
        let steeper = i128::from(there.slope - line.slope);
        let meet = match above > 0 && steeper > 0 {
            true => i128::from(to) - (above + steeper - 1) / steeper,
            false => i128::from(line.at),
        };
        let is_between = meet > i128::from(line.at);
        to = if is_between { meet as i64 } else { line.at + (to - line.at) / 2 };
    }
    Ok(Some(to))
}

/// By how much L may grow until T has grown by 1 %: Newton's steps from above, halves where they lead nowhere.
fn tolerance(line: Line, curve: impl Fn(i64) -> Result<Line, GoalError>) -> Result<i64, GoalError> {
    let most = line.end + line.end / 100;
    let (mut low, mut high) = (line.at, line.at.max(most) + 1);
    let mut to = high;
    for _ in 0..MOST {
        let there = curve(to)?;
        if there.end <= most {
            low = to;
        } else {
            high = to;
        }
        if high - low <= 1 {
            break;
        }
        let back = i128::from(there.end - most).checked_div(i128::from(there.slope));
        let next = back
            .map(|back| i128::from(to) - back)
            .filter(|next| there.end > most && *next > i128::from(low) && *next < i128::from(high));
        to = next.map_or(low + (high - low) / 2, |next| next as i64);
    }
    Ok(low - line.at)
}

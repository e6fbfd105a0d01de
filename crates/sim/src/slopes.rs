//! How the end of a recorded program depends on the machine's parameters.

use crate::engine::replay_by;
use crate::engine::trace::{PARAMETERS, Trace, Traced};
use crate::goal::{Derivative, Line, Sensitivity, latencies};
use crate::observed::{last, path};
use crate::{Machine, Replay, Schedule, SimError};

/// Replays a schedule with times that know what they came from and how they grow with each parameter. Where that is not
/// the same on both sides, or events of one time may change places, it is replayed once more for each side.
///
/// o is os and or alike, L and G are those of all protocols, and what further hops add is none of them. Derivatives by G
/// are in bytes.
///
/// # Errors
/// As [`replay`](crate::replay).
pub fn replay_with_sensitivity(
    schedule: &Schedule,
    machine: &Machine,
) -> Result<(Replay, Sensitivity), SimError> {
    let clock = Traced::<PARAMETERS>::keeping(schedule.size());
    let (replay, ends, clock) = replay_by(clock, schedule, machine)?;
    let (rank, end) = last(&ends);
    let past = clock.past.unwrap_or_default();
    if past.is_full() {
        return Err(SimError::TooMuch);
    }
    let path = path(&past, machine, rank, end);
    drop((past, ends));
    // What a rank decides by the time may be otherwise too.
    let decides = !schedule.is_passing();
    let mut derivatives = [Derivative::default(); 4];
    for (parameter, least) in machine.least().into_iter().enumerate() {
        let known = end.known(parameter).filter(|_| !decides && !clock.unsure[parameter]);
        if let Some(slope) = known {
            derivatives[parameter] = Derivative { left: slope, right: slope, jumps: false };
            continue;
        }
        // Nothing is less than 0.
        let more = towards(schedule, machine, (parameter, 1))?;
        let less = match least {
            0 => None,
            _ => Some(towards(schedule, machine, (parameter, -1))?),
        };
        let left = less.map_or(more.growth[0], |less| -less.growth[0]);
        let jumps = [Some(more), less].iter().flatten().any(|of| of.picoseconds != end.picoseconds);
        derivatives[parameter] = Derivative { left, right: more.growth[0], jumps };
    }
    let here = Line {
        at: machine.latency as i64,
        end: end.picoseconds as i64,
        slope: derivatives[0].right,
    };
    let curve = |at: i64| {
        let machine = machine.with_more_latency((at - here.at) as u64);
        match towards(schedule, &machine, (0, -1)) {
            Ok(there) => {
                let [growth] = there.growth;
                Ok(Line { at, end: there.picoseconds as i64, slope: -growth })
            }
            // It is later than all that is asked for.
            Err(SimError::TooLong { .. }) => Ok(Line { at, end: i64::MAX, slope: 0 }),
            Err(error) => Err(error),
        }
    };
    let (critical_latency, tolerance) = latencies(here, replay.messages > 0, &curve)?;
    Ok((replay, Sensitivity { derivatives, path, critical_latency, tolerance }))
}

/// The end if a parameter changes by very little.
fn towards(
    schedule: &Schedule,
    machine: &Machine,
    (parameter, sign): (usize, i64),
) -> Result<Trace<1>, SimError> {
    let (_, ends, _) = replay_by(Traced::towards(parameter, sign), schedule, machine)?;
    Ok(last(&ends).1)
}

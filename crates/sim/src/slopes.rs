//! Sensitivity of the end of a recorded program to the machine's parameters.

use crate::engine::trace::{Counts, Trace, Traced};
use crate::engine::{Plain, replay_by};
use crate::error::Result;
use crate::goal::{Line, Sensitivity, SlopeState};
use crate::observed::{last, path};
use crate::{Machine, Replay, Schedule, SimError};

/// Replays a schedule with times that know what led to them and how they grow with each parameter.
/// If the growth differs between the two sides, or simultaneous events may be reordered, it is
/// replayed once more for each side.
///
/// o stands for os and or together; L and G are those of all protocols; time added by further hops
/// belongs to none of them. Derivatives with respect to G are in bytes.
///
/// # Errors
/// As [`replay`](crate::replay).
pub fn replay_with_sensitivity(
    schedule: &Schedule,
    machine: &Machine,
) -> Result<(Replay, Sensitivity)> {
    let clock = Traced::<Counts>::keeping(false);
    let (replay, ends, clock) = replay_by(clock, schedule, machine)?;
    let (rank, end) = last(&ends);
    let past = clock.past.unwrap_or_default();
    if past.is_full() {
        return Err(SimError::TooMuch);
    }
    let path = path(&past, machine, rank, end);
    drop((past, ends));
    // Decisions of a rank that depend on time may change too.
    let decides = !schedule.is_passing();
    let known = |of: usize| end.known(of).filter(|_| !decides && !clock.unsure[of]);
    let latency = machine.latency as i64;
    let point = SlopeState {
        here: (latency, end.picoseconds as i64),
        known: [0, 1, 2, 3].map(known),
        is_least: machine.least().map(|least| least == 0),
        has_messages: replay.messages > 0,
    };
    let towards = |(parameter, sign), at: i64| {
        let machine = machine.with_more_latency((at - latency) as u64);
        let (_, ends, _) = replay_by(Traced::towards(parameter, sign), schedule, &machine)?;
        let Trace { picoseconds, growth: [slope], .. } = last(&ends).1;
        Ok(Line { at, end: picoseconds as i64, slope })
    };
    let is_late = |error: &SimError| matches!(error, SimError::TooLong(_));
    let end_at = |at: i64| {
        let machine = machine.with_more_latency((at - latency) as u64);
        let ends = replay_by(Plain, schedule, &machine).map(|done| done.1);
        match ends {
            Ok(ends) => Ok(ends.into_iter().max().map(|end| end as i64)),
            Err(error) if is_late(&error) => Ok(None),
            Err(error) => Err(error),
        }
    };
    Ok((replay, Sensitivity::at(point, path, towards, end_at, is_late)?))
}

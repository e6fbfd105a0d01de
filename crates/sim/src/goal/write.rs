//! Writes a recorded program as GOAL text, in the strict form that LogGOPSim's `txt2bin` reads.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::{Op, Schedule};

/// Picoseconds in the unit of time of GOAL, the nanosecond.
const UNIT: u64 = 1000;

/// Writes a schedule of messages and computations. Active Messages cannot be expressed in GOAL and
/// are left out.
///
/// Each operation requires the one before it; if that is a send, it requires only its start, since
/// a send in GOAL may wait for its receive. Each message of a pair has its own tag, so that no
/// replay can exchange them. A message has at least one byte, since (s − 1)·G in LogGOPSim would be
/// negative for none. Computations are rounded so that their sum is right.
///
/// # Errors
/// It cannot be written.
pub fn write_goal(schedule: &Schedule, to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "num_ranks {}", schedule.size())?;
    // By what both sides of a message know.
    let mut tags = HashMap::new();
    let mut seen = HashMap::new();
    for rank in 0..schedule.size() {
        writeln!(to, "rank {rank} {{")?;
        seen.clear();
        let (mut number, mut rest, mut after_send) = (0_u64, 0, false);
        for op in schedule.operations(rank) {
            match op {
                Op::Send { context, peer, tag, bytes } | Op::Recv { context, peer, tag, bytes } => {
                    let sends = matches!(op, Op::Send { .. });
                    let [verb, way] = if sends { ["send", "to"] } else { ["recv", "from"] };
                    let nth = seen.entry((verb, context, peer, tag)).or_insert(0_u64);
                    let next = tags.len();
                    let unique = tags.entry((context, tag, *nth)).or_insert(next);
                    *nth += 1;
                    let bytes = bytes.max(1);
                    writeln!(to, "l{number}: {verb} {bytes}b {way} {peer} tag {unique}")?;
                }
                Op::Compute { picoseconds } => {
                    rest += picoseconds;
                    writeln!(to, "l{number}: calc {}", rest / UNIT)?;
                    rest %= UNIT;
                }
                _ => continue,
            }
            if let Some(before) = number.checked_sub(1) {
                let requires = if after_send { "irequires" } else { "requires" };
                writeln!(to, "l{number} {requires} l{before}")?;
            }
            after_send = matches!(op, Op::Send { .. });
            number += 1;
        }
        writeln!(to, "}}")?;
    }
    Ok(())
}

//! `bandgap bulk`.

use bandgap_units::Bytes;

use super::signature::{BATCH, one};
use crate::args::{Bulk, Measure, Output};
use crate::collect::Stage;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::launch::{Task, Transport};
use crate::measure::series::{Operation, SeriesPlan, Sized};
use crate::measure::sizes::{LONGEST, sizes};
use crate::output::Sink;
use crate::target::Target;

/// Transfers of a burst, from which the gap is read, as far as they stay within [`BURST_BYTES`].
const BURST: u32 = 16;
/// Bytes of a burst.
const BURST_BYTES: usize = 1 << 20;

/// Measures, prints and keeps stores and gets over message sizes.
///
/// # Errors
/// It could not be measured, or not be written.
pub fn run(bulk: &Bulk, measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    let target = measure.transport.clone().unwrap_or(Target::Real(Transport::Shm));
    let ranks = measure.ranks.unwrap_or(2);
    let usage = |what: String| Failure::new(Exit::Usage, what);
    if ranks < 2 {
        return Err(usage(format!("move bytes among {ranks} ranks: this takes 2 at least")));
    }
    let (from, to) = bulk.sizes.bounds();
    if to > u64::from(LONGEST) {
        return Err(usage(too_long(to)));
    }
    let operations: &[Operation] = match (bulk.store, bulk.get) {
        (true, false) => &[Operation::BulkStore],
        (false, true) => &[Operation::BulkGet],
        _ => &[Operation::BulkStore, Operation::BulkGet],
    };
    let mut points = Vec::new();
    for &operation in operations {
        for bytes in sizes(from as u32..=to as u32) {
            points.push(Sized { operation, bytes, messages: 1 });
            let fit = BURST_BYTES / (bytes as usize).max(64);
            let messages = BURST.min(fit as u32);
            if messages > 1 && (bytes == 0 || bytes.is_power_of_two()) {
                points.push(Sized { operation, bytes, messages });
            }
        }
    }
    let mut sink = Sink::open(output, "bulk", measure)?;
    let stage = Stage::new()?;
    let task = Task::Series(SeriesPlan {
        points,
        precision: measure.precision.0,
        confidence: measure.confidence.0,
        budget: measure.budget().as_secs_f64(),
        samples: BATCH,
        seed: measure.seed,
        stamp: stage.clock.cost().0,
        pair: [0, 1],
    });
    sink.plan(&task);
    let exit = one(&stage, &target, ranks, &task, measure, output, &mut sink)?;
    sink.close(exit)
}

/// What is said of a message that is too long.
pub(super) fn too_long(bytes: u64) -> String {
    format!("transfer {}: {} is the longest", Bytes(bytes), Bytes(u64::from(LONGEST)))
}

//! `bandgap comms1`, `comms2`, `comms3` and `synch1`.

use super::memory;
use super::signature::{BATCH, one};
use crate::args::{Comms, Measure, Output};
use crate::output::Sink;
use bandgap_campaign::Task;
use bandgap_campaign::series::{Operation, SeriesPlan, Sized};
use bandgap_campaign::sizes::{LONGEST, sizes};
use bandgap_launch::Exit;
use bandgap_launch::Failure;
use bandgap_launch::Stage;
use bandgap_launch::Target;
use bandgap_launch::Transport;

/// Rounds of one sample of short messages, so that the clock is read seldom beside them, as far as
/// they stay within [`ROUNDS_BYTES`].
const ROUNDS: u32 = 16;
/// Bytes that the rounds of one sample send one way.
const ROUNDS_BYTES: u32 = 64 << 10;

/// Measures, prints and keeps one of PARKBENCH's communication benchmarks.
///
/// # Errors
/// It could not be measured, or not be written.
pub fn run(
    operation: Operation,
    comms: &Comms,
    measure: &Measure,
    output: &Output,
) -> Result<Exit, Failure> {
    let pair = comms.between.map_or([0, 1], |pair| pair.0);
    let (from, to) = comms.sizes.bounds();
    if to > u64::from(LONGEST) {
        return Err(Failure::new(Exit::Usage, super::bulk::too_long(to)));
    }
    let sizes = sizes(from as u32..=to as u32);
    series(operation, sizes, pair, measure, output)
}

/// Measures the rate of barriers.
///
/// # Errors
/// As [`run`].
pub fn barrier(measure: &Measure, output: &Output) -> Result<Exit, Failure> {
    series(Operation::Synch1, vec![0], [0, 1], measure, output)
}

fn series(
    operation: Operation,
    sizes: Vec<u32>,
    pair: [usize; 2],
    measure: &Measure,
    output: &Output,
) -> Result<Exit, Failure> {
    let target = measure.transport.clone().unwrap_or(Target::Real(Transport::Shm));
    let least = pair[0].max(pair[1]) + 1;
    let ranks = measure.ranks.unwrap_or(least);
    let [a, b] = pair;
    if a == b {
        let what = format!("measure between rank {a} and itself");
        return Err(Failure::new(Exit::Usage, what).hint("name two different ranks"));
    }
    if ranks < least {
        let what = format!("measure {} on {ranks} of at least {least} ranks", operation.name());
        return Err(
            Failure::new(Exit::Usage, what).hint(format!("give it --ranks {least} or more"))
        );
    }
    let stage = Stage::new()?;
    let stamp = match target {
        Target::Simulated(_) => 0.0,
        Target::Real(_) => stage.clock.cost().0,
    };
    let point = |bytes| Sized { operation, bytes, messages: rounds(bytes) };
    let points = sizes.into_iter().map(point).collect();
    let task = Task::Series(SeriesPlan {
        points,
        precision: measure.precision.0,
        confidence: measure.confidence.0,
        budget: measure.budget().as_secs_f64(),
        samples: BATCH,
        seed: measure.seed,
        stamp,
        pair,
    });
    memory::check(&target, ranks, &task)?;
    let mut sink = Sink::open(output, operation.name(), measure)?;
    sink.plan(&task);
    let exit = one(&stage, &target, ranks, &task, measure, output, &mut sink)?;
    sink.close(exit)
}

/// Rounds of one sample of messages of this size.
fn rounds(bytes: u32) -> u32 {
    (ROUNDS_BYTES / bytes.max(1)).clamp(1, ROUNDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_go_several_rounds_and_long_ones_one() {
        let rounds = [0, 1, 4 << 10, 8 << 10, 40 << 10, 64 << 10, u32::MAX].map(rounds);
        assert_eq!(rounds, [16, 16, 16, 8, 1, 1, 1]);
    }
}

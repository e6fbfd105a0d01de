//! How many messages of a load outlast an echo.

use bandgap_kernels::{Contention, LOAD, WHOLE};
use bandgap_stats::batch_value;

use super::ContentionPlan;
use crate::budget::Budget;
use crate::experiment::VIRTUAL_SAMPLES;
use crate::runner::{Runner, Stop};

/// Samples of a look.
pub(super) const LOOK: u32 = 6;
/// How much longer than [`outlasts`] demands a load is to last: so slow may an echo be.
pub(super) const MARGIN: f64 = 2.0;
/// Looks for that, and messages of the first.
const LOOKS: usize = 8;
pub(super) const FIRST: u32 = 16;
/// Share of what the launch has after which no load is looked for.
pub(super) const LOOKING: f64 = 0.5;
/// Messages of a load at most.
const MOST: u32 = 1 << 20;

/// How long a load must last beside an echo of so long and so many round trips, M: echo·(1 + 1/M). The
/// load is timed from before the message that lets the echo begin, which takes a round trip at most.
pub(super) fn outlasts(echo: f64, trips: u32) -> f64 {
    echo * (1.0 + 1.0 / f64::from(trips))
}

/// A load as it is looked for from one size of the echo to the next.
pub(super) struct Load {
    pub(super) name: &'static str,
    /// The share of the greatest bandwidth that its messages reach; 0 without a load.
    pub(super) percent: u32,
    /// Bytes of a message; none without a load.
    pub(super) length: Option<u32>,
    /// Messages from which on so many are looked for that outlast the echo, and round trips and bytes
    /// of the echo that they were found for. `None` from the size on that no number outlasts.
    pub(super) from: Option<(u32, Contention)>,
}

impl Load {
    /// Messages to begin with beside this echo: longer messages of a single round trip take longer as
    /// they have more bytes.
    pub(super) fn first(&self, idle: &Contention) -> Option<f64> {
        let (messages, found) = self.from.as_ref()?;
        let longer = match found.messages {
            1 => idle.bytes as f64 / found.bytes.max(1) as f64,
            _ => 1.0,
        };
        let first = f64::from(*messages) * longer.max(1.0);
        (first <= MARGIN * f64::from(MOST)).then(|| first.min(f64::from(MOST)).ceil())
    }
}

/// The kernel with so many messages of its load that they outlast the echo; looked for from so many
/// messages on. `None` where [`MOST`] do not.
pub(super) fn outlasting(
    idle: &Contention,
    length: u32,
    first: u32,
    (budget, runner): (&Budget, &mut dyn Runner),
) -> Result<Option<Contention>, Stop> {
    // In virtual time all samples are alike.
    let samples = if runner.virtual_time() { VIRTUAL_SAMPLES } else { LOOK };
    let mut kernel = Contention { load_messages: first, load_bytes: length as usize, ..*idle };
    for _ in 0..LOOKS {
        if budget.spent_of_all(runner) > LOOKING {
            break;
        }
        let done = runner.run(&ContentionPlan::order(&kernel, samples))?;
        let [echo, load] = [WHOLE, LOAD].map(|name| {
            let column = done.column(name);
            if column.is_empty() { 0.0 } else { batch_value(column) }
        });
        let sent = f64::from(kernel.load_messages);
        let enough = MARGIN * outlasts(echo, kernel.messages) * sent / load.max(f64::MIN_POSITIVE);
        // The echo begins when the first message is there.
        let wanted = (1.2 * enough).ceil() + 1.0;
        if enough <= sent {
            kernel.load_messages = kernel.load_messages.min(wanted as u32);
            return Ok(Some(kernel));
        }
        if kernel.load_messages == MOST {
            let lasts = load >= outlasts(echo, kernel.messages);
            return Ok(lasts.then_some(kernel));
        }
        // A load that did not outlast the echo has slowed only a part of it.
        kernel.load_messages = wanted.min(f64::from(MOST)) as u32;
    }
    Ok(Some(kernel))
}

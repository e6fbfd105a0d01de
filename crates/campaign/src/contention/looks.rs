//! Finding the number of load messages that outlasts an echo.

use bandgap_kernels::{Contention, LOAD, WHOLE};
use bandgap_stats::batch_value;

use super::{ContentionPlan, SAMPLES};
use crate::budget::Budget;
use crate::experiment::VIRTUAL_SAMPLES;
use crate::runner::{Runner, Stop};

/// Samples of a look.
pub(super) const LOOK: u32 = 6;
/// How many times longer than [`outlasts`] demands a load is to last, since an echo may be slower
/// than expected.
pub(super) const MARGIN: f64 = 2.0;
/// Largest number of looks.
const LOOKS: usize = 8;
/// Number of load messages in the first look.
pub(super) const FIRST: u32 = 16;
/// Share of the launch's time after which there are no more looks.
pub(super) const LOOKING: f64 = 0.5;
/// Largest number of load messages.
const MOST: u32 = 1 << 20;

/// The least duration of a load during an echo of M round trips. The load is timed from before the
/// message that starts the echo, which takes at most one round trip.
///
/// *Formula*: echo · (1 + 1/M).
pub(super) fn outlasts(echo: f64, trips: u32) -> f64 {
    echo * (1.0 + 1.0 / f64::from(trips))
}

/// A load, and the state of the search from one size of the echo to the next.
pub(super) struct Load {
    pub(super) name: &'static str,
    /// The share of the greatest bandwidth that its messages reach, in percent; 0 without a load.
    pub(super) percent: u32,
    /// Bytes of a message; `None` without a load.
    pub(super) length: Option<u32>,
    /// The number of messages at which the search starts, and the echo for which it was found.
    /// `None` once no number outlasts the echo.
    pub(super) from: Option<(u32, Contention)>,
}

impl Load {
    /// The number of messages at which the search starts for this echo. A single round trip of
    /// longer messages takes longer in proportion to its bytes.
    pub(super) fn first(&self, idle: &Contention) -> Option<u32> {
        let (messages, found) = self.from.as_ref()?;
        let longer = match found.messages {
            1 => idle.bytes as f64 / found.bytes.max(1) as f64,
            _ => 1.0,
        };
        let first = f64::from(*messages) * longer.max(1.0);
        (first <= MARGIN * f64::from(MOST)).then(|| first.min(f64::from(MOST)).ceil() as u32)
    }
}

/// The kernel with enough load messages to outlast the echo, searched from `first` on. `None` if
/// [`MOST`] are too few.
pub(super) fn outlasting(
    idle: &Contention,
    length: u32,
    first: u32,
    (budget, runner): (&Budget, &mut dyn Runner),
) -> Result<Option<Contention>, Stop> {
    // In virtual time all samples are equal.
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
        // The echo starts when the first message has arrived.
        let wanted = (1.2 * enough).ceil() + 1.0;
        if enough <= sent {
            kernel.load_messages = kernel.load_messages.min(wanted as u32);
            return Ok(Some(kernel));
        }
        if kernel.load_messages == MOST {
            let lasts = load >= outlasts(echo, kernel.messages);
            return Ok(lasts.then_some(kernel));
        }
        // A load that did not outlast the echo slowed only part of it. There must be time for a batch with more.
        if wanted * load / sent * f64::from(SAMPLES) > budget.left(runner) {
            return Ok(None);
        }
        kernel.load_messages = wanted.min(f64::from(MOST)) as u32;
    }
    Ok(Some(kernel))
}

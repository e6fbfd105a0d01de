//! Choosing the number of samples in a batch.

use bandgap_kernels::{Order, WHOLE};

use super::step::Step;
use crate::budget::Budget;
use crate::runner::{Runner, Stop};
use crate::sizes::{BATCH_BYTES, samples_within};

/// Longest time of a batch's samples in nanoseconds; slower messages have fewer samples. The rest
/// of a batch takes as long. Longer batches would leave time for fewer rounds, on which the
/// intervals rest.
const BATCH_TIME: f64 = 2e6;
/// Smallest number of samples in a batch.
const LEAST: u32 = 8;
/// Smallest number of samples of messages longer than [`LONG`].
const FEWEST: u32 = 3;
const LONG: u32 = 16 << 20;
/// Longest time of a batch with the least samples, in nanoseconds. On a slow link it has fewer,
/// down to one.
const LONGEST: f64 = 1e8;
/// The same between hosts, as a share of the launch's remaining time.
const FAR: f64 = 0.02;
/// Samples of a look at the time of a sample; long messages have one.
const LOOK: u32 = 2;
/// Share of the budget after which there are no more looks. The remaining steps have the least
/// samples.
const LOOKING: f64 = 0.1;

/// Samples of a batch of this step by its bytes, at most `most`.
pub(super) fn by_bytes(step: &Step, most: u32) -> u32 {
    let bytes = step.at_once().min(u32::MAX.into()) as u32;
    let least = if bytes > LONG { FEWEST } else { LEAST };
    samples_within(BATCH_BYTES, bytes, step.messages, least, most)
}

/// Takes fewer samples for batches whose samples take long, which a look shows.
///
/// # Errors
/// Communication failed, the run was stopped, or an order cannot be carried out.
pub(crate) fn by_time<'a>(
    orders: impl IntoIterator<Item = &'a mut Order>,
    budget: &Budget,
    runner: &mut dyn Runner,
) -> Result<(), Stop> {
    if runner.virtual_time() {
        return Ok(());
    }
    let longest =
        if runner.is_far() { LONGEST.min(FAR * budget.left(runner) * 1e9) } else { LONGEST };
    let until = budget.spent(runner) + LOOKING;
    let mut least = LEAST;
    for order in orders {
        let mut fit = 0;
        if budget.spent(runner) <= until {
            let look = if order.samples > LEAST { LOOK } else { 1 };
            let done = runner.run(&Order { samples: look, ..order.clone() })?;
            let times = done.column(WHOLE);
            let shortest = times.iter().copied().fold(f64::INFINITY, f64::min);
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            least = ((longest / mean) as u32).clamp(1, LEAST);
            fit = (BATCH_TIME / shortest) as u32;
        }
        order.samples = order.samples.min(fit.max(least));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scripted::{Scripted, taking};

    fn steps() -> Vec<Step> {
        [8, 64 << 10, 1 << 20].map(|bytes| Step::new("comms1", bytes, 1, 2)).to_vec()
    }

    fn samples(mut runner: Scripted) -> Vec<u32> {
        let budget = Budget::from_now(&runner, 5.0);
        let order = |step: Step| step.order(by_bytes(&step, 40)).unwrap();
        let mut orders: Vec<Order> = steps().into_iter().map(order).collect();
        by_time(&mut orders, &budget, &mut runner).unwrap();
        orders.iter().map(|order| order.samples).collect()
    }

    #[test]
    fn slow_steps_have_fewer_samples() {
        let of = |sample: f64| samples(Scripted::steady(sample));
        assert_eq!(of(10e3), [40, 32, 8]);
        assert_eq!(of(100e3), [20, 20, 8]);
        assert_eq!(of(20e6), [5, 5, 5]);
        assert_eq!(of(1e9), [1, 1, 1]);
        // A clock that has not moved shows no length.
        assert_eq!(of(0.0), [40, 32, 8]);
    }

    #[test]
    fn looks_end_with_their_share_of_the_budget() {
        let mut runner = Scripted::new(|order| Ok(taking(order, 10e3)));
        runner.cost = 1.0;
        assert_eq!(samples(runner), [40, 8, 8]);
    }

    #[test]
    fn virtual_time_takes_no_looks() {
        let mut runner = Scripted::steady(1e9);
        runner.virtual_time = true;
        assert_eq!(samples(runner), [40, 32, 8]);
    }
}

//! Timing a batch's computation alone, just before and after the batch.
//!
//! A processor's frequency changes, and with it the time of an iteration.

use bandgap_comm::Delay;
use bandgap_stats::quantile::median;

use crate::data::Rejected;
use crate::runner::Runner;

/// Largest relative difference between the times before and after a batch.
const DRIFT: f64 = 0.1;
/// Number of samples before a batch, and again after it.
const SAMPLES: u32 = 9;
/// Longest time of a sample with more than one computation, in nanoseconds.
const TIME: f64 = 5e4;

/// A computation that is timed in bursts like those of the batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    delay: Delay,
    messages: u32,
}

impl Control {
    /// The control for a batch of `messages` messages with `delay` after each; `None` without a
    /// delay.
    pub fn of(delay: Delay, messages: u32) -> Option<Self> {
        if delay == Delay::NONE {
            return None;
        }
        let enough = (TIME * 1e3 / delay.picoseconds as f64).max(1.0) as u32;
        Some(Self { delay, messages: messages.clamp(16, 64).min(enough) })
    }

    /// Its current time in nanoseconds: the median of a few samples, some of which an interrupt may
    /// have lengthened.
    pub fn time(self, runner: &mut dyn Runner) -> f64 {
        median(&runner.time_delay(self.delay, self.messages, SAMPLES))
    }
}

/// Rejects a batch if the times before and after it show different processor speeds.
pub fn drifts([before, after]: [f64; 2]) -> Option<Rejected> {
    let apart = (before - after).abs();
    (apart > DRIFT * before.min(after) + 1.0).then_some(Rejected::PaceChanged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_and_a_nanosecond_are_no_drift() {
        assert_eq!(drifts([100.0, 110.9]), None);
        assert_eq!(drifts([1.0, 2.0]), None);
        assert_eq!(drifts([111.2, 100.0]), Some(Rejected::PaceChanged));
    }

    #[test]
    fn a_long_delay_is_timed_fewer_times_in_a_row() {
        let control = |ns: u64, messages| {
            let delay = Delay { iterations: 1, picoseconds: 1000 * ns };
            Control::of(delay, messages).map(|control| control.messages)
        };
        // 16 to 64 in a row, as far as these stay within 50 µs.
        let cases = [(10, 1), (10, 40), (10, 1000), (1000, 1000), (60_000, 1000)];
        let found = cases.map(|(ns, messages)| control(ns, messages));
        assert_eq!(found, [Some(16), Some(40), Some(64), Some(50), Some(1)]);
        assert_eq!(Control::of(Delay::NONE, 8), None);
    }
}

//! The computation within a batch, timed by itself just before and after it.
//!
//! A processor's frequency changes, and with it how long a number of iterations takes.

use bandgap_comm::Delay;
use bandgap_stats::quantile::median;

use crate::data::Rejected;
use crate::runner::Runner;

/// Share by which the time may differ before and after a batch.
const DRIFT: f64 = 0.1;
/// Samples before, and as many after.
const SAMPLES: u32 = 9;
/// Time that a sample may take, in nanoseconds, if it is of more than one computation.
const TIME: f64 = 5e4;

/// A computation to be timed in bursts like those of the batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    delay: Delay,
    messages: u32,
}

impl Control {
    /// That of a batch of `messages` messages with `delay` after each; `None` where there is no
    /// delay.
    pub fn of(delay: Delay, messages: u32) -> Option<Self> {
        if delay == Delay::NONE {
            return None;
        }
        let enough = (TIME * 1e3 / delay.picoseconds as f64).max(1.0) as u32;
        Some(Self { delay, messages: messages.clamp(16, 64).min(enough) })
    }

    /// Its time now, in nanoseconds: the median of few samples, some of which an interrupt may hit.
    pub fn time(self, runner: &mut dyn Runner) -> f64 {
        median(&runner.time_delay(self.delay, self.messages, SAMPLES))
    }
}

/// Why the times before and after a batch are not those of one speed of the processor.
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

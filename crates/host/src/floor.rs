//! Costs of the smallest operations on this machine, as yardsticks for results.

use std::hint::black_box;

use bandgap_units::Timer;

use crate::CycleClock;

/// Operations between the two stamps of a sample, enough for the clock's step to be negligible.
const OPERATIONS: u32 = 256;

/// Time of a clock reading in ns; each sample is the mean of many readings.
pub fn clock_read(clock: &CycleClock, samples: usize) -> Vec<f64> {
    sample(clock, samples, || {
        black_box(clock.stamp().ticks());
    })
}

/// Time of the cheapest system call (`getppid`) in ns; each sample is the mean of many calls.
pub fn system_call(clock: &CycleClock, samples: usize) -> Vec<f64> {
    sample(clock, samples, || {
        black_box(rustix::process::getppid());
    })
}

fn sample(clock: &CycleClock, samples: usize, mut operation: impl FnMut()) -> Vec<f64> {
    // The first sample brings the code into the caches, and is dropped.
    let mut times = vec![0.0; samples + 1];
    for time in &mut times {
        let begin = clock.stamp();
        for _ in 0..OPERATIONS {
            operation();
        }
        let elapsed = clock.between(begin.ticks(), clock.stamp().ticks());
        *time = elapsed.0 / f64::from(OPERATIONS);
    }
    times.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_a_mean_of_many_operations() {
        let clock = CycleClock::calibrate();
        let mut calls = 0;
        assert_eq!(sample(&clock, 3, || calls += 1).len(), 3);
        assert_eq!(calls, 4 * OPERATIONS);
        for times in [clock_read(&clock, 5), system_call(&clock, 5)] {
            assert_eq!(times.len(), 5);
            assert!(times.iter().all(|time| time.is_finite() && *time >= 0.0));
        }
    }
}

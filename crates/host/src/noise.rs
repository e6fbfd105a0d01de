//! The time that the operating system and the host take from a core, measured with a fixed work
//! quantum.

use std::time::Duration;

use bandgap_stats::quantile::{quantile_sorted, sorted};
use bandgap_units::Ns;
use bandgap_units::Timer;
use serde::Serialize;

use crate::{CycleClock, WorkRate};

/// Length of a quantum: so short that it rarely contains two detours, but long compared with the
/// clock's step.
const QUANTUM: Ns = Ns(10_000.0);
/// A detour shorter than this share of the quantum cannot be distinguished from the quantum's own
/// spread.
const SHORTEST_SHARE: f64 = 0.01;
/// Nor can a detour shorter than this number of clock steps.
const SHORTEST_STEPS: f64 = 4.0;
/// The quantile of the times that counts as undisturbed. This share of the quanta must be
/// undisturbed.
const UNDISTURBED: f64 = 0.25;
/// Largest number of quanta: 8 MiB of stamps, about 10 s.
const MOST: usize = 1 << 20;

/// How much a working core was disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NoiseReport {
    /// Time of an undisturbed quantum: the first quartile. The shortest quanta may have run at a
    /// frequency that the core cannot sustain.
    pub quantum: Ns,
    /// Number of quanta timed.
    pub samples: usize,
    /// Median time of a quantum.
    pub median: Ns,
    /// Mean time of a quantum.
    pub mean: Ns,
    /// 99 % quantile.
    pub p99: Ns,
    /// 99.9 % quantile.
    pub p99_9: Ns,
    /// Longest time of a quantum.
    pub max: Ns,
    /// A quantum that exceeds the undisturbed time by more than this contains a detour.
    pub threshold: Ns,
    /// Quanta that contain a detour, per second.
    pub detours_per_second: f64,
    /// Share of the time that was lost to work: 1 − quantum/mean.
    pub time_lost: f64,
}

/// Repeats a quantum of work for `duration` on the calling thread's core, and reports how its time
/// varies.
///
/// *Assumes* that the thread is pinned, that a quarter of the quanta are undisturbed, and that the
/// processor's frequency is constant. Changes of the frequency count as noise.
/// *Source*: the fixed-work-quantum benchmark (Sottile and Minnich, "Analysis of Microbenchmarks
/// for Performance Tuning of Clusters", 2004).
pub fn fixed_work_quantum(clock: &CycleClock, duration: Duration) -> NoiseReport {
    let rounds = WorkRate::calibrate(clock).delay(QUANTUM).iterations.max(1);
    let room = (duration.as_nanos() as f64 / QUANTUM.0 * 1.5) as usize;
    // Not filled with zeros: pages that were never written would fault inside the quanta.
    let mut ends = vec![1_u64; room.clamp(16, MOST) + 1];
    let ticks = (duration.as_nanos() as f64 / clock.report().ns_per_tick) as u64;
    clock.work(rounds);
    let start = clock.stamp().ticks();
    ends[0] = start;
    let mut filled = 1;
    while filled < ends.len() {
        clock.work(rounds);
        let now = clock.stamp().ticks();
        ends[filled] = now;
        filled += 1;
        if now.wrapping_sub(start) >= ticks && filled > 2 {
            break;
        }
    }
    let times = ends[..filled].windows(2).map(|pair| clock.between(pair[0], pair[1]).0);
    summarise(&times.collect::<Vec<_>>(), clock.report().resolution)
}

/// The report on the times of quanta in ns, at least one.
fn summarise(times: &[f64], resolution: Ns) -> NoiseReport {
    let times = sorted(times);
    let total: f64 = times.iter().sum();
    let mean = total / times.len() as f64;
    let quantum = quantile_sorted(&times, UNDISTURBED);
    let threshold = (SHORTEST_SHARE * quantum).max(SHORTEST_STEPS * resolution.0);
    let detours = times.len() - times.partition_point(|time| *time <= quantum + threshold);
    let of_total = |value: f64| if total > 0.0 { value / total } else { 0.0 };
    NoiseReport {
        quantum: Ns(quantum),
        samples: times.len(),
        median: Ns(quantile_sorted(&times, 0.5)),
        mean: Ns(mean),
        p99: Ns(quantile_sorted(&times, 0.99)),
        p99_9: Ns(quantile_sorted(&times, 0.999)),
        max: Ns(quantile_sorted(&times, 1.0)),
        threshold: Ns(threshold),
        detours_per_second: of_total(detours as f64 * 1e9),
        time_lost: of_total(total - quantum * times.len() as f64).max(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detours_are_counted_and_their_time_summed() {
        // 990 quanta of 10 µs, 8 of 10.05 µs (within 1 %), 2 of 60 µs:
        // total 9 900 000 + 80 400 + 120 000 = 10 100 400 ns, of which 10 000 000 is work.
        let mut times = vec![10_000.0; 990];
        times.extend([10_050.0; 8]);
        times.extend([60_000.0; 2]);
        times.reverse();
        let report = summarise(&times, Ns(10.0));
        assert_eq!(report.quantum, Ns(10_000.0));
        assert_eq!(report.threshold, Ns(100.0));
        assert_eq!(report.samples, 1000);
        assert_eq!(report.mean, Ns(10_100.4));
        assert_eq!(report.median, Ns(10_000.0));
        assert_eq!(report.max, Ns(60_000.0));
        // Position 999·0.99 = 989.01, between sorted 989 (10 000) and 990 (10 050): 10 000.5.
        assert!((report.p99.0 - 10_000.5).abs() < 1e-6, "{report:?}");
        // Position 999·0.999 = 998.001: both neighbours are 60 000.
        assert_eq!(report.p99_9, Ns(60_000.0));
        assert!((report.detours_per_second - 2.0 / 10_100_400e-9).abs() < 1e-6);
        assert!((report.time_lost - 100_400.0 / 10_100_400.0).abs() < 1e-12);
    }

    #[test]
    fn a_coarse_clock_raises_the_threshold() {
        // Steps of 1 µs on a quantum of 10 µs: 12 µs is two steps, no detour; 15 µs is one.
        let mut times = vec![10_000.0; 98];
        times.extend([12_000.0, 15_000.0]);
        let report = summarise(&times, Ns(1000.0));
        assert_eq!(report.threshold, Ns(4000.0));
        assert!((report.detours_per_second * report.mean.0 * 100.0 / 1e9 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn this_machine_gives_a_report() {
        let clock = CycleClock::calibrate();
        let report = fixed_work_quantum(&clock, Duration::from_millis(1));
        assert!(report.samples >= 2, "{report:?}");
        assert!(report.quantum.0 <= report.median.0 && report.median.0 <= report.max.0);
        assert!((0.0..1.0).contains(&report.time_lost), "{report:?}");
    }
}

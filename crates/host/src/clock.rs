//! The clock for measurements: the cycle counter if it can be trusted, otherwise the OS clock.
//!
//! Each experiment is timed on one rank, so counters of different cores are never compared.

mod calibration;
mod counter;
mod quality;

use std::path::Path;

use bandgap_units::Ns;
use bandgap_units::{Stamp, Timer};
use serde::{Deserialize, Serialize};

use crate::{HostError, Result, rounds, system_file};
use calibration::Rate;

/// Source of time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockSource {
    /// The processor's counter: `rdtscp; lfence` on x86-64, `isb; cntvct_el0; isb` on aarch64.
    CycleCounter,
    /// `CLOCK_MONOTONIC_RAW`, in nanoseconds.
    OsClock,
}

/// Why the OS clock is used instead of the cycle counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// bandgap supports no counter on this architecture.
    NoCounter,
    /// The counter may change its rate, or stop, when the processor changes its frequency or
    /// sleeps.
    NotInvariant,
    /// The kernel does not list the counter among its clock sources, because it found it unstable.
    MarkedUnstable,
}

/// What is known about a clock. Stored with every run, and passed from the launcher to its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockReport {
    /// Source of stamps.
    pub source: ClockSource,
    /// Why the source is not the cycle counter, if it is not.
    pub fallback: Option<Fallback>,
    /// Nanoseconds per tick: the robust slope of `CLOCK_MONOTONIC_RAW` over ticks.
    pub ns_per_tick: f64,
    /// Half-width of the interval for `ns_per_tick`, as a share of it. It affects every time of a
    /// run by the same factor.
    pub relative_uncertainty: f64,
    /// Time between two stamps with nothing between them: the mean over bursts of stamps, without
    /// interrupted bursts. Subtract it from every time between two stamps.
    pub cost: Ns,
    /// The step of the clock: the greatest common divisor of all differences observed.
    pub resolution: Ns,
}

/// A calibrated clock.
///
/// ```
/// use bandgap_units::Timer;
/// use bandgap_host::CycleClock;
///
/// let clock = CycleClock::calibrate();
/// let begin = clock.stamp();
/// clock.work(1000);
/// let end = clock.stamp();
/// assert!(clock.to_ns(end.ticks() - begin.ticks()).0 > 0.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CycleClock {
    report: ClockReport,
}

impl CycleClock {
    /// Chooses the source, and calibrates it against `CLOCK_MONOTONIC_RAW`; takes about 40 ms.
    ///
    /// *Formula*: each reading t of the OS clock lies between two readings of the counter, whose
    /// middle is c. ns_per_tick is the median of the slopes (t_j − t_i)/(c_j − c_i) over pairs that
    /// are half the calibration apart. Only the tightest brackets count.
    /// *Assumes* that both clocks run at constant rates for these 40 ms.
    pub fn calibrate() -> Self {
        let clocks = system_file::text(Path::new("/"), CLOCK_SOURCES);
        let (source, fallback) = choose(counter::facts(), clocks.as_deref());
        let Rate { ns_per_tick, relative_uncertainty } = match source {
            ClockSource::CycleCounter => {
                calibration::calibrate(counter::ordered, os_nanoseconds, || {
                    std::thread::sleep(calibration::INTERVAL)
                })
            }
            // Of the OS clock against itself.
            ClockSource::OsClock => Rate { ns_per_tick: 1.0, relative_uncertainty: 0.0 },
        };
        let (cost, resolution) = (Ns(0.0), Ns(0.0));
        let mut report =
            ClockReport { source, fallback, ns_per_tick, relative_uncertainty, cost, resolution };
        let (cost, step) = quality::measure(|| Self { report }.stamp().ticks());
        (report.cost, report.resolution) = (Ns(cost * ns_per_tick), Ns(step as f64 * ns_per_tick));
        Self { report }
    }

    /// The clock that `report` describes, calibrated by another process on this machine.
    ///
    /// # Errors
    /// [`HostError::Calibration`] if this machine has no such clock, or if no clock can have the
    /// numbers in the report.
    pub fn with_calibration(report: ClockReport) -> Result<Self> {
        let wrong = |problem| Err(HostError::Calibration(problem));
        if report.source == ClockSource::CycleCounter && !counter::facts().exists {
            return wrong("it is for a cycle counter, which this processor does not have");
        }
        if !(report.ns_per_tick.is_finite() && report.ns_per_tick > 0.0) {
            return wrong("nanoseconds per tick must be a positive number");
        }
        let others = [report.relative_uncertainty, report.cost.0, report.resolution.0];
        if !others.iter().all(|value| value.is_finite() && *value >= 0.0) {
            return wrong("uncertainty, cost and resolution must not be negative");
        }
        Ok(Self { report })
    }

    /// Everything known about this clock.
    pub fn report(&self) -> ClockReport {
        self.report
    }

    /// The time of this many ticks. The cost of a stamp is not subtracted: see
    /// [`ClockReport::cost`].
    #[inline]
    pub fn to_ns(&self, ticks: u64) -> Ns {
        Ns(ticks as f64 * self.report.ns_per_tick)
    }

    /// The time between two stamps, `begin` and `end` in ticks, less the cost of one stamp; never
    /// below zero.
    pub(crate) fn between(&self, begin: u64, end: u64) -> Ns {
        Ns((self.to_ns(end.saturating_sub(begin)).0 - self.report.cost.0).max(0.0))
    }
}

impl Timer for CycleClock {
    /// Waits for earlier instructions and holds back later ones. An earlier store may still be in
    /// the store buffer: the processor's part in sending ends there.
    #[inline(always)]
    fn stamp(&self) -> Stamp {
        Stamp::from_ticks(match self.report.source {
            ClockSource::CycleCounter => counter::ordered(),
            ClockSource::OsClock => os_nanoseconds(),
        })
    }

    #[inline(always)]
    fn work(&self, iterations: u32) {
        rounds::compute(iterations);
    }
}

/// The file in which the kernel lists the clock sources that it trusts.
const CLOCK_SOURCES: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";

/// The source to use, given the counter's properties and the kernel's list of clock sources.
fn choose(facts: counter::Facts, clocks: Option<&str>) -> (ClockSource, Option<Fallback>) {
    let listed = |name| clocks.is_none_or(|all| all.split_whitespace().any(|one| one == name));
    let fallback = if !facts.exists {
        Some(Fallback::NoCounter)
    } else if !facts.invariant {
        Some(Fallback::NotInvariant)
    } else if !facts.kernel_name.is_none_or(listed) {
        Some(Fallback::MarkedUnstable)
    } else {
        None
    };
    let source = if fallback.is_some() { ClockSource::OsClock } else { ClockSource::CycleCounter };
    (source, fallback)
}

/// `CLOCK_MONOTONIC_RAW` in nanoseconds: not adjusted by network time.
#[inline(always)]
fn os_nanoseconds() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicRaw);
    // A clock that counts from boot has no negative parts.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests;

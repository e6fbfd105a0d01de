use std::cell::Cell;

use proptest::prelude::*;

use super::calibration::{ClockReading, Rate, calibrate, fit};
use super::counter::Facts;
use super::*;

/// A machine whose time passes by rule: a reading of either clock takes `read` nanoseconds, and
/// every `stall`-th of them 50 µs more.
struct Machine {
    now: Cell<f64>,
    reads: Cell<u32>,
    ticks_per_ns: f64,
    read: f64,
    stall: u32,
}

impl Machine {
    fn new(ticks_per_ns: f64, stall: u32) -> Self {
        Self { now: Cell::new(0.0), reads: Cell::new(0), ticks_per_ns, read: 20.0, stall }
    }

    fn pass(&self) {
        let read = self.reads.get() + 1;
        self.reads.set(read);
        let stalled = if read.is_multiple_of(self.stall) { 50_000.0 } else { 0.0 };
        self.now.set(self.now.get() + self.read + stalled);
    }

    fn counter(&self) -> u64 {
        self.pass();
        // Far above 2^53, as after months of running: precision must not suffer.
        (1 << 60) + (self.now.get() * self.ticks_per_ns) as u64
    }

    fn os_clock(&self) -> u64 {
        self.pass();
        (1 << 60) + self.now.get() as u64
    }

    fn calibrate(&self) -> Rate {
        let rest = || self.now.set(self.now.get() + 2e6);
        calibrate(|| self.counter(), || self.os_clock(), rest)
    }
}

proptest! {
    #[test]
    fn a_made_up_counter_gets_its_rate_back(ticks_per_ns in 0.02_f64..6.0, stall in 5_u32..200) {
        // Readings are 20 ns apart and truncated to whole ticks and nanoseconds, so a pair 18 ms
        // apart is off by at most (1 tick + 1 ns) / 18 ms: below 4e-6 at 0.02 ticks a ns.
        let rate = Machine::new(ticks_per_ns, stall).calibrate();
        let error = (rate.ns_per_tick * ticks_per_ns - 1.0).abs();
        prop_assert!(error < 4e-6, "off by {error:e}");
        prop_assert!(error <= rate.relative_uncertainty + 1e-9, "{error:e} of {rate:?}");
        prop_assert!(rate.relative_uncertainty < 2e-5, "{rate:?}");
    }

    #[test]
    fn the_step_divides_every_difference(unit in 1_u64..500, jumps in prop::collection::vec(0_u64..40, 2..60)) {
        // Readings on a grid of `unit`: their step is a multiple of it that divides all of them.
        let stamps: Vec<u64> = jumps
            .iter()
            .scan(1_u64 << 55, |at, jump| { *at += jump * unit; Some(*at) })
            .collect();
        let step = quality::step(&stamps);
        prop_assert_eq!(step % unit, 0);
        if step > 0 {
            prop_assert!(stamps.windows(2).all(|pair| (pair[1] - pair[0]).is_multiple_of(step)));
        }
    }
}

#[test]
fn one_spoilt_point_does_not_move_the_rate() {
    // 2 ticks a nanosecond exactly; one reading of the OS clock is 1 ms late in a tight bracket.
    let mut points: Vec<ClockReading> = (0..18)
        .map(|i| ClockReading {
            ticks: f64::from(i) * 4e6,
            nanoseconds: f64::from(i) * 2e6,
            width: 80.0,
        })
        .collect();
    points[3].nanoseconds += 1e6;
    assert_eq!(fit(&points).ns_per_tick, 0.5);
}

#[test]
fn a_counter_that_stands_still_is_not_divided_by() {
    let rate = calibrate(|| 7, || 7, || ());
    assert_eq!(rate.relative_uncertainty, 1.0);
    assert!(rate.ns_per_tick.is_finite());
}

#[test]
fn cost_is_the_mean_distance_without_interruptions() {
    // A clock in steps of 26 ticks whose stamps come 39 ticks apart: single differences are 26 or
    // 52, 63 of them take 63·39 = 2457 ticks, seen as 94 or 95 steps of 26: mean 38.8 to 39.2.
    // Every 1000th stamp is 100 000 ticks late; its burst must not count.
    let (mut now, mut stamps) = (0_u64, 0_u64);
    let (cost, step) = quality::measure(|| {
        stamps += 1;
        now += 39 + if stamps.is_multiple_of(1000) { 100_000 } else { 0 };
        now / 26 * 26
    });
    assert_eq!(step, 26);
    assert!((cost - 39.0).abs() < 0.25, "{cost}");
}

#[test]
fn the_counter_is_used_only_where_it_can_be_trusted() {
    let good = Facts { exists: true, invariant: true, kernel_name: Some("tsc") };
    let with = |facts, clocks| choose(facts, clocks);
    assert_eq!(with(good, Some("kvm-clock tsc\n")), (ClockSource::CycleCounter, None));
    assert_eq!(with(good, None), (ClockSource::CycleCounter, None));
    assert_eq!(
        with(good, Some("hpet acpi_pm tsc-early")),
        (ClockSource::OsClock, Some(Fallback::MarkedUnstable))
    );
    assert_eq!(
        with(Facts { invariant: false, ..good }, Some("tsc")).1,
        Some(Fallback::NotInvariant)
    );
    assert_eq!(with(Facts { exists: false, ..good }, Some("tsc")).1, Some(Fallback::NoCounter));
}

#[test]
fn a_rank_gets_the_launchers_clock() {
    // Numbers that decimal text holds exactly: reading JSON may round the last bit of others.
    let report = ClockReport {
        source: CycleClock::calibrate().report().source,
        fallback: None,
        ns_per_tick: 0.4375,
        relative_uncertainty: 0.0,
        cost: Ns(18.5),
        resolution: Ns(0.875),
    };
    let text = serde_json::to_string(&report).unwrap();
    let rank = CycleClock::with_calibration(serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(rank.report(), report);
    // 1000 · 0.4375.
    assert_eq!(rank.to_ns(1000), Ns(437.5));
}

#[test]
fn senseless_calibrations_are_refused() {
    let good = ClockReport {
        source: ClockSource::OsClock,
        fallback: Some(Fallback::NoCounter),
        ns_per_tick: 1.0,
        relative_uncertainty: 0.0,
        cost: Ns(20.0),
        resolution: Ns(1.0),
    };
    assert!(CycleClock::with_calibration(good).is_ok());
    for bad in [
        ClockReport { ns_per_tick: 0.0, ..good },
        ClockReport { ns_per_tick: f64::NAN, ..good },
        ClockReport { cost: Ns(-1.0), ..good },
        ClockReport { relative_uncertainty: f64::INFINITY, ..good },
    ] {
        assert!(CycleClock::with_calibration(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn both_sources_move_forward() {
    for source in [CycleClock::calibrate().report().source, ClockSource::OsClock] {
        let report = ClockReport { source, ..CycleClock::calibrate().report() };
        let clock = CycleClock::with_calibration(report).unwrap();
        let first = clock.stamp().ticks();
        clock.work(100_000);
        assert!(clock.stamp().ticks() > first);
    }
}

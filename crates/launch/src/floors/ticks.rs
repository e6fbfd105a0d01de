//! From ticks to the time of one round.

use bandgap_host::CycleClock;

use bandgap_campaign::floors::{Floor, Kind, Yields};

/// Ticks of each sample, or why this floor cannot be had on this machine.
pub(super) type Ticks = Result<Vec<u64>, String>;

/// By how much the ticks of local floors are multiplied, so that they stay integers.
pub(super) const LOCAL_SCALE: f64 = 1000.0;

/// Nanoseconds of one round: of half of it where it goes there and back.
pub(super) fn per_round(floor: &Floor, clock: &CycleClock, ticks: u64) -> f64 {
    if matches!(floor.kind, Kind::ClockRead | Kind::SystemCall) {
        return ticks as f64 / LOCAL_SCALE * clock.ns_per_tick();
    }
    // Copies stamp each round, everything else the whole sample.
    let stamps = match floor.kind {
        Kind::CopyCrossCore | Kind::StoreCrossCore | Kind::CopyVmReadv => f64::from(floor.rounds),
        _ => 1.0,
    };
    let elapsed = (clock.to_ns(ticks).0 - stamps * clock.cost().0).max(0.0);
    let halves = match floor.yields {
        Yields::HalfRoundTrip | Yields::BytesEachWay(_) => 2.0,
        Yields::Operation | Yields::Bytes(_) => 1.0,
    };
    elapsed / (halves * f64::from(floor.rounds))
}

#[cfg(test)]
mod tests {
    use bandgap_host::{ClockReport, ClockSource};
    use bandgap_units::Ns;

    use super::*;
    use bandgap_campaign::floors::FLOORS;

    #[test]
    fn a_round_is_what_its_floor_says() {
        // A tick of half a nanosecond, and a stamp that costs 10 ns.
        let clock = CycleClock::with_calibration(ClockReport {
            source: ClockSource::OsClock,
            fallback: None,
            ns_per_tick: 0.5,
            relative_uncertainty: 0.0,
            cost: Ns(10.0),
            resolution: Ns(0.5),
        })
        .unwrap();
        for (name, ticks, ns) in [
            // (200 020 · 0.5 − 10) / (2 · 500): one stamp, half round trips.
            ("cache_line", 200_020, 100.0),
            // (163 860 · 0.5 − 10) / 8192: one stamp, whole operations.
            ("slot_ring_stream", 163_860, 10.0),
            // (8020 · 0.5 − 1 · 10) / 1: one stamp each round, of which there is one.
            ("copy_cross_core", 8020, 4000.0),
            // (8020 · 0.5 − 10) / (2 · 1): one stamp, there and back.
            ("message_1mib", 8020, 2000.0),
            // (32 020 · 0.5 − 10) / 8: one stamp, eight writes one way.
            ("tcp_stream", 32_020, 2000.0),
            // 50 000 / 1000 ticks of 0.5 ns; its stamps are removed before.
            ("clock_read", 50_000, 25.0),
            // Shorter than the stamp: nothing is left.
            ("tcp", 2, 0.0),
        ] {
            let floor = FLOORS.iter().find(|floor| floor.name == name).unwrap();
            let found = per_round(floor, &clock, ticks);
            assert!((found - ns).abs() < 1e-9, "{name}: {found}");
        }
    }
}

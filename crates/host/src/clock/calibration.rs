//! The counter's rate, calibrated against the OS clock.

use std::time::Duration;

use bandgap_stats::outlier::MAD_TO_SIGMA;
use bandgap_stats::quantile::median;

/// Pause between two points.
pub(super) const INTERVAL: Duration = Duration::from_millis(2);
/// Number of points: with their pauses, 34 to 40 ms.
const POINTS: usize = 18;
/// Attempts at each point; the one with the tightest bracket is kept.
const ATTEMPTS: usize = 16;
/// Points whose bracket is wider than this many times the median bracket are dropped.
const LOOSE: f64 = 2.0;

/// A reading of the OS clock and the counter's readings around it, both since the first point.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockReading {
    /// Middle of the bracket, ticks.
    pub ticks: f64,
    /// OS clock, nanoseconds.
    pub nanoseconds: f64,
    /// Width of the bracket, ticks.
    pub width: f64,
}

/// Result of a calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    /// Nanoseconds per tick.
    pub ns_per_tick: f64,
    /// Half-width of its interval, as a share of it.
    pub relative_uncertainty: f64,
}

/// Takes the points and fits a rate. The clocks and the pause are arguments, so that tests can
/// replace them by simulated ones.
pub(super) fn calibrate(
    mut counter: impl FnMut() -> u64,
    mut os_clock: impl FnMut() -> u64,
    mut rest: impl FnMut(),
) -> Rate {
    let mut attempt = || {
        let before = counter();
        let now = os_clock();
        let after = counter();
        (before, now, after.saturating_sub(before))
    };
    let mut origin = None;
    let points: Vec<ClockReading> = (0..POINTS)
        .map(|point| {
            if point > 0 {
                rest();
            }
            let attempts = [(); ATTEMPTS].map(|()| attempt());
            let best = attempts.into_iter().min_by_key(|(.., width)| *width);
            let (ticks, now, width) = best.expect("there are attempts");
            let (first_ticks, first_now) = *origin.get_or_insert((ticks, now));
            // Integers are subtracted first: a counter beyond 2^53 is not exact as f64.
            ClockReading {
                ticks: ticks.saturating_sub(first_ticks) as f64 + width as f64 / 2.0,
                nanoseconds: now.saturating_sub(first_now) as f64,
                width: width as f64,
            }
        })
        .collect();
    fit(&points)
}

/// The median slope over pairs that are half of the points apart.
///
/// The uncertainty is the larger of two numbers: the spread of these slopes (their scaled median
/// absolute deviation), and the bound from the brackets, (w_i + w_j)/2 over the pair's distance.
pub(super) fn fit(points: &[ClockReading]) -> Rate {
    let usual = median(&points.iter().map(|point| point.width).collect::<Vec<_>>());
    let tight: Vec<ClockReading> =
        points.iter().copied().filter(|point| point.width <= LOOSE * usual).collect();
    let half = tight.len() / 2;
    let (mut slopes, mut bounds) = (Vec::new(), Vec::new());
    for (early, late) in tight.iter().zip(&tight[half..]) {
        let distance = late.ticks - early.ticks;
        if distance > 0.0 {
            slopes.push((late.nanoseconds - early.nanoseconds) / distance);
            // Readings are whole ticks: half a tick at each end remains uncertain even if the
            // bracket is narrower than that.
            bounds.push(((early.width + late.width) / 2.0 + 1.0) / distance);
        }
    }
    if slopes.is_empty() {
        // The counter stands still: it has no rate.
        return Rate { ns_per_tick: 1.0, relative_uncertainty: 1.0 };
    }
    let slope = median(&slopes);
    let deviations: Vec<f64> = slopes.iter().map(|other| (other - slope).abs()).collect();
    let spread = MAD_TO_SIGMA * median(&deviations) / slope;
    Rate { ns_per_tick: slope, relative_uncertainty: spread.max(median(&bounds)) }
}

//! The counter's rate against the OS clock.

use std::time::Duration;

use bandgap_stats::outlier::MAD_TO_SIGMA;
use bandgap_stats::quantile::median;

/// Rest between two points.
pub(super) const INTERVAL: Duration = Duration::from_millis(2);
/// Points: with their rests, 34 to 40 ms.
const POINTS: usize = 18;
/// Attempts at each point, of which the one with the tightest bracket is kept.
const ATTEMPTS: usize = 16;
/// Points whose bracket is wider than this many times the median one are dropped.
const LOOSE: f64 = 2.0;

/// A reading of the OS clock, and of the counter around it, both since the first point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// Middle of the bracket, ticks.
    pub ticks: f64,
    /// OS clock, nanoseconds.
    pub nanoseconds: f64,
    /// Width of the bracket, ticks.
    pub width: f64,
}

/// The result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    /// Nanoseconds a tick.
    pub ns_per_tick: f64,
    /// Half-width of what it may be, as a share.
    pub relative_uncertainty: f64,
}

impl Rate {
    /// The OS clock against itself.
    pub(super) const SAME: Self = Self { ns_per_tick: 1.0, relative_uncertainty: 0.0 };
}

/// Takes the points and fits them. The clocks and the rest between points are arguments, so that
/// tests can put made-up machines in their place.
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
    let points: Vec<Point> = (0..POINTS)
        .map(|point| {
            if point > 0 {
                rest();
            }
            let mut best = attempt();
            for _ in 1..ATTEMPTS {
                let next = attempt();
                if next.2 < best.2 {
                    best = next;
                }
            }
            let (ticks, now, width) = best;
            let (first_ticks, first_now) = *origin.get_or_insert((ticks, now));
            // Integers are subtracted first: a counter beyond 2^53 has no exact f64.
            Point {
                ticks: ticks.saturating_sub(first_ticks) as f64 + width as f64 / 2.0,
                nanoseconds: now.saturating_sub(first_now) as f64,
                width: width as f64,
            }
        })
        .collect();
    fit(&points)
}

/// The median slope of pairs half the points apart.
///
/// The uncertainty is the larger of two: the spread of these slopes (their scaled median
/// absolute deviation), and the bound that the brackets give, (w_i + w_j)/2 over the pair's distance.
pub(super) fn fit(points: &[Point]) -> Rate {
    let usual = median(&points.iter().map(|point| point.width).collect::<Vec<_>>());
    let tight: Vec<Point> =
        points.iter().copied().filter(|point| point.width <= LOOSE * usual).collect();
    let half = tight.len() / 2;
    let (mut slopes, mut bounds) = (Vec::new(), Vec::new());
    for (early, late) in tight.iter().zip(&tight[half..]) {
        let distance = late.ticks - early.ticks;
        if distance > 0.0 {
            slopes.push((late.nanoseconds - early.nanoseconds) / distance);
            // Readings are whole ticks: where a bracket is narrower than one, half a tick at
            // each end remains.
            bounds.push(((early.width + late.width) / 2.0 + 1.0) / distance);
        }
    }
    if slopes.is_empty() {
        // A counter that stands still: no rate, and nothing known of it.
        return Rate { ns_per_tick: 1.0, relative_uncertainty: 1.0 };
    }
    let slope = median(&slopes);
    let deviations: Vec<f64> = slopes.iter().map(|other| (other - slope).abs()).collect();
    let spread = MAD_TO_SIGMA * median(&deviations) / slope;
    Rate { ns_per_tick: slope, relative_uncertainty: spread.max(median(&bounds)) }
}

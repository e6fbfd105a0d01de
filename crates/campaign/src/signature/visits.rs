//! Distributing the batches of a round over the points, so that the least known parameters are
//! narrowed most.

use bandgap_model::Signature;
use bandgap_stats::Rule;

use super::observed::verdicts;
use crate::load::Load;

/// Longest duration of a round, in multiples of the usual one.
const LONGER: f64 = 2.0;
/// Largest number of batches of a point in a round.
const MOST: f64 = 16.0;

/// What determines a point's number of batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Need {
    /// Its usual number of batches in a round.
    pub usual: f64,
    /// Time of one batch, in nanoseconds.
    pub time: f64,
    /// Contribution of one batch to the weighted variance; `None` if unknown.
    pub variance: Option<f64>,
}

/// The weights of the variances of os, or, g and RTT: 0 for a parameter that is known well enough,
/// else 1/(precision · value)².
pub(super) fn wanted(signature: &Signature, rule: &Rule, load: Load) -> [f64; 4] {
    let Signature { send_overhead, recv_overhead, gap, rtt, .. } = signature;
    let [os, or, g, _, round_trip, ..] = verdicts(signature, rule, load);
    let received = match load.is_transfer() {
        true => send_overhead.value.abs() + recv_overhead.value.abs(),
        false => recv_overhead.value.abs(),
    };
    let all = [(os, send_overhead.value), (or, received), (g, gap.value), (round_trip, rtt.value)];
    // A parameter near 0 cannot be known to a share of itself: a share of a stamp, or of the round
    // trip, is enough.
    let least = (rule.precision * rule.stamp).max(1e-3 * rtt.value);
    all.map(|(known, value)| match known.is_enough() && rule.precision > 0.0 {
        true => 0.0,
        false => (rule.precision * value.abs()).max(least).powi(-2),
    })
}

/// Number of batches of each point, so that a round takes at most [`LONGER`] times as long as
/// usual.
///
/// *Formula*: Σ vᵢ/nᵢ is least for a given Σ nᵢ·tᵢ where nᵢ ∝ √(vᵢ/tᵢ) (Neyman 1934), here between the usual number and
/// [`MOST`]. No point has fewer than usual: all must share the same drift, which differences between them remove, and a
/// mean in which few rounds weigh most is less sure than its number of rounds tells.
pub(super) fn visits(needs: &[Need]) -> Vec<f64> {
    let of = |factor: f64| -> Vec<f64> {
        let own = |need: &Need| match need.variance {
            Some(variance) => (factor * (variance / need.time).sqrt()).min(MOST).max(need.usual),
            None => need.usual,
        };
        needs.iter().map(own).collect()
    };
    let time = |visits: &[f64]| -> f64 {
        visits.iter().zip(needs).map(|(visits, need)| visits * need.time).sum()
    };
    let usual: Vec<f64> = needs.iter().map(|need| need.usual).collect();
    // The time of a round grows with the factor, which is found by bisection of its logarithm.
    let scores = needs.iter().filter_map(|need| Some((need.variance? / need.time).sqrt()));
    let greatest = scores.fold(0.0, f64::max);
    if greatest == 0.0 {
        return usual;
    }
    let longest = LONGER * time(&usual);
    let (mut low, mut high) = (1e-6, MOST * 1e6);
    for _ in 0..60 {
        let middle = f64::sqrt(low * high);
        match time(&of(middle / greatest)) > longest {
            true => high = middle,
            false => low = middle,
        }
    }
    of(low / greatest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(usual: f64, time: f64, variance: f64) -> Need {
        Need { usual, time, variance: Some(variance) }
    }

    #[test]
    fn batches_go_where_they_narrow_most_for_their_time() {
        // Long batches leave time for many short ones, of which each has its most.
        let needs = [
            need(4.0, 10.0, 9.0),
            need(1.0, 10.0, 1.0),
            need(1.0, 1000.0, 0.0),
            Need { variance: None, ..need(1.0, 1000.0, 0.0) },
        ];
        assert_eq!(visits(&needs), [MOST, MOST, 1.0, 1.0]);
        // Where time is short, in proportion to the root of variance over time.
        let short = [need(1.0, 10.0, 9.0), need(1.0, 10.0, 1.0), need(1.0, 100.0, 10.0)];
        let found = visits(&short);
        assert!((found[0] / found[1] - 3.0).abs() < 1e-3, "{found:?}");
        assert!((found[2] / found[1] - 1.0).abs() < 1e-3, "{found:?}");
        let time: f64 = found.iter().zip(&short).map(|(visits, need)| visits * need.time).sum();
        assert!((time / (LONGER * 120.0) - 1.0).abs() < 1e-3, "{found:?}");
        // But none has fewer than usual.
        assert_eq!(visits(&[need(4.0, 1.0, 1e-9), need(1.0, 10.0, 1.0)])[0], 4.0);
        // Exact times are all alike.
        assert_eq!(visits(&[need(4.0, 10.0, 0.0), need(1.0, 10.0, 0.0)]), [4.0, 1.0]);
    }
}

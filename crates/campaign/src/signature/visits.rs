//! How many batches each point has in a round, so that what is known worst is narrowed most.

use bandgap_model::Signature;
use bandgap_stats::Rule;

use super::observed::Verdicts;
use crate::load::Load;

/// Batches in a round of a point that narrows nothing: it goes through the same drifts as the others, which a
/// difference between them takes out.
const LEAST: f64 = 1.0;
/// How many times longer than usual a round may take: half of it goes where the doubt is.
const LONGER: f64 = 2.0;
/// Batches of a point in a round at most.
const MOST: f64 = 16.0;

/// A point as far as its share of the time goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Need {
    /// Batches that it usually has in a round.
    pub usual: f64,
    /// Time of one, in nanoseconds.
    pub time: f64,
    /// What one batch of it adds to the variance that is to become small; `None` where that is not known.
    pub variance: Option<f64>,
}

/// The weights of the variances of os, or, g and RTT: 0 of what is known well enough, else 1/(precision · value)²,
/// so that those which are farthest from it weigh most.
pub(super) fn wanted(signature: &Signature, rule: &Rule, load: Load) -> [f64; 4] {
    let Signature { send_overhead, recv_overhead, gap, rtt, .. } = signature;
    let known = Verdicts::of(signature, rule, load);
    let received = match load.is_transfer() {
        true => send_overhead.value.abs() + recv_overhead.value.abs(),
        false => recv_overhead.value.abs(),
    };
    let all = [
        (known.send_overhead, send_overhead.value),
        (known.recv_overhead, received),
        (known.gap, gap.value),
        (known.rtt, rtt.value),
    ];
    // What may be 0 cannot be known to a share of itself: a step of the clock, and a share of the round trip, are enough.
    let least = (rule.precision * rule.stamp).max(1e-3 * rtt.value);
    all.map(|(known, value)| match known.is_enough() && rule.precision > 0.0 {
        true => 0.0,
        false => (rule.precision * value.abs()).max(least).powi(-2),
    })
}

/// Batches of each point in a round that takes [`LONGER`] than usual at most.
///
/// *Formula*: Σ vᵢ/nᵢ is least for a given Σ nᵢ·tᵢ where nᵢ ∝ √(vᵢ/tᵢ) (Neyman 1934), here between [`LEAST`] and
/// [`MOST`].
pub(super) fn visits(needs: &[Need]) -> Vec<f64> {
    let of = |factor: f64| -> Vec<f64> {
        let own = |need: &Need| match need.variance {
            Some(variance) => (factor * (variance / need.time).sqrt()).clamp(LEAST, MOST),
            None => need.usual,
        };
        needs.iter().map(own).collect()
    };
    let time = |visits: &[f64]| -> f64 {
        visits.iter().zip(needs).map(|(visits, need)| visits * need.time).sum()
    };
    let longest = LONGER * time(&needs.iter().map(|need| need.usual).collect::<Vec<_>>());
    // Times of rounds rise with the factor: its logarithm is halved in on.
    let scores = needs.iter().filter_map(|need| Some((need.variance? / need.time).sqrt()));
    let greatest = scores.fold(0.0, f64::max);
    if greatest == 0.0 {
        return needs.iter().map(|need| need.usual).collect();
    }
    let (mut low, mut high) = (1e-6, MOST / LEAST * 1e6);
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
        assert_eq!(visits(&needs), [MOST, MOST, LEAST, 1.0]);
        // Where time is short, in proportion to the root of variance over time.
        let short = [need(4.0, 10.0, 9.0), need(4.0, 10.0, 1.0), need(1.0, 100.0, 10.0)];
        let found = visits(&short);
        assert!((found[0] / found[1] - 3.0).abs() < 1e-3, "{found:?}");
        assert!((found[2] / found[1] - 1.0).abs() < 1e-3, "{found:?}");
        let time: f64 = found.iter().zip(&short).map(|(visits, need)| visits * need.time).sum();
        assert!((time / (LONGER * 180.0) - 1.0).abs() < 1e-3, "{found:?}");
        // Exact times are all alike.
        assert_eq!(visits(&[need(4.0, 10.0, 0.0), need(1.0, 10.0, 0.0)]), [4.0, 1.0]);
    }
}

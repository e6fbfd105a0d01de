//! The (M, Δ) grid of the signature, chosen from what the machine showed.

use bandgap_comm::Delay;

/// What a first look at the machine found, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstLook {
    /// Round trip.
    pub rtt: f64,
    /// Send overhead, roughly.
    pub send_overhead: f64,
    /// Gap: the slope of elapsed(M) at [`FirstLook::messages`].
    pub gap: f64,
    /// The M at which that slope was stable.
    pub messages: u32,
}

/// One curve of the signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Δ wanted, in nanoseconds.
    pub delay: f64,
    /// The M of its points, ascending.
    pub messages: Vec<u32>,
}

impl FirstLook {
    /// About how long one sample of a point takes, in nanoseconds.
    pub fn sample_time(&self, messages: u32, delay: f64) -> f64 {
        f64::from(messages) * self.gap.max(self.send_overhead + delay) + self.rtt + delay
    }
}

/// Shares of a launch's time that one round over all points may take.
const ROUND_SHARE: f64 = 0.1;

/// The curves of the signature, for batches of `samples` and a launch of `budget` seconds.
///
/// Δ = 0 gets every small M (the send-only regime), then a geometric series up to the M at which
/// the gap was stable. The other Δ are fractions and multiples of the gap, and of the round trip
/// where it is much longer than the gap; curves below the gap go as far as that of Δ = 0 (they
/// are flat only once the capacity is full), those above only past the first replies, since the
/// sender is their bottleneck from then on. On machines so slow that a round would take too much
/// of the budget, the largest M is halved until it does not.
pub fn choose(look: &FirstLook, samples: u32, budget: f64) -> Vec<Curve> {
    let mut top = look.messages;
    loop {
        let curves = up_to(look, top);
        let round: f64 = curves
            .iter()
            .flat_map(|curve| curve.messages.iter().map(|m| look.sample_time(*m, curve.delay)))
            .sum::<f64>()
            * f64::from(samples)
            * 1e-9;
        if round <= ROUND_SHARE * budget || top <= SMALLEST_TOP {
            return curves;
        }
        top = (top / 2).max(SMALLEST_TOP);
    }
}

/// On fast machines bursts above the gap go on for this long, in nanoseconds, so that jitter at
/// their ends does not blur the slope.
const LONG_BURST: f64 = 1e5;

/// However slow the machine, M goes as far as this.
const SMALLEST_TOP: u32 = 64;

fn up_to(look: &FirstLook, top: u32) -> Vec<Curve> {
    let mut curves = vec![Curve { delay: 0.0, messages: dense(top) }];
    let mut delays: Vec<f64> =
        [0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0].iter().map(|f| f * look.gap).collect();
    let of_round_trip = [0.5, 1.0, 1.5, 2.0].iter().map(|f| f * look.rtt);
    delays.extend(of_round_trip.filter(|delay| *delay > 3.5 * look.gap));
    for delay in delays {
        let cost = look.send_overhead.max(0.0) + delay;
        let enough = (8.0 * look.rtt / cost).max(32.0).max(LONG_BURST / cost);
        let past = if delay < 1.2 * look.gap { top } else { (enough as u32).min(top.max(32)) };
        curves.push(Curve { delay, messages: sparse(past) });
    }
    curves
}

/// 1, 2, … 8, then steps of about 1.5 up to `top`.
fn dense(top: u32) -> Vec<u32> {
    let mut messages: Vec<u32> = (1..=8.min(top)).collect();
    let mut next = 8.0_f64;
    while next < f64::from(top) {
        next *= 1.5;
        messages.push((next.round() as u32).min(top));
    }
    messages.dedup();
    messages
}

/// Powers of four below half of `top`, and the last three points close together for the slope.
fn sparse(top: u32) -> Vec<u32> {
    let mut messages: Vec<u32> =
        (0..15).map(|k| 1 << (2 * k)).take_while(|m| *m < top / 2).collect();
    messages.extend([top / 2, top * 3 / 4, top]);
    messages.retain(|m| *m > 0);
    messages.dedup();
    messages
}

/// A point of the signature to be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Point {
    /// The issue phase of `messages` requests with a delay.
    Issue {
        /// M.
        messages: u32,
        /// Δ.
        delay: Delay,
    },
    /// One round trip.
    Rtt,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_follows_the_machine_it_is_chosen_for() {
        // The paper's Paragon, in nanoseconds: RTT 19.8 µs, g 7.6 µs.
        let look = FirstLook { rtt: 19_800.0, send_overhead: 1_400.0, gap: 7_600.0, messages: 256 };
        let curves = choose(&look, 50, 100.0);
        assert_eq!(curves[0].messages[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(curves[0].messages.last(), Some(&256));
        // Idle is 4 µs: there are delays on both sides, and some far above the gap.
        assert!(curves.iter().any(|c| c.delay > 0.0 && c.delay < 4_000.0));
        assert!(curves.iter().filter(|c| c.delay >= 2.0 * look.gap).count() >= 2);
        for curve in &curves {
            assert!(curve.messages.is_sorted_by(|a, b| a < b), "{curve:?}");
        }
        // A machine a hundred times faster gets delays a hundred times shorter.
        let fast = FirstLook { rtt: 198.0, send_overhead: 14.0, gap: 76.0, messages: 256 };
        for (slow, fast) in curves.iter().zip(choose(&fast, 50, 100.0)) {
            assert!((slow.delay / 100.0 - fast.delay).abs() < 1e-9);
            // On the faster one, bursts above the gap may go on for longer.
            assert!(slow.messages.last() <= fast.messages.last(), "{slow:?} {fast:?}");
        }
        // A machine a thousand times slower is not measured for longer than it may take.
        let slow = FirstLook { rtt: 2e7, send_overhead: 1.4e6, gap: 7.6e6, messages: 256 };
        let top = choose(&slow, 50, 100.0)[0].messages.last().copied();
        assert_eq!(top, Some(64));
    }
}

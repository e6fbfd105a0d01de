//! The (M, Δ) grid of the signature, chosen from a first look at the machine.

/// The result of a first look at the machine, in nanoseconds.
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
    /// Time per message outside of the timed section, roughly.
    pub untimed: f64,
    /// Time per batch outside of its samples, for orders and reports.
    pub around: f64,
}

/// The limits that keep a round over all points short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Smallest value of the largest M, however slow the machine.
    pub least: u32,
    /// Requests that may be outstanding. Larger M are multiples of it, so that all of them end at the same point of
    /// flow control's period.
    pub period: u32,
    /// Largest M, however fast the machine.
    pub most: u32,
    /// The density of the grid.
    pub mesh: Mesh,
    /// Largest number of batches of one point in a round.
    pub visits: f64,
    /// Time for one launch, in seconds.
    pub budget: f64,
}

/// The density of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mesh {
    /// The Δ, as multiples of the gap.
    gaps: &'static [f64],
    /// Further Δ as multiples of the round trip, if it is much longer than the gap.
    round_trips: &'static [f64],
    /// Whether curves with Δ > 0 have few small M.
    few_small: bool,
}

/// A grid with many points.
pub const FINE: Mesh = Mesh {
    gaps: &[0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0],
    round_trips: &[0.5, 1.0, 1.5, 2.0],
    few_small: false,
};
/// A grid with few points, whose rounds are short.
pub const COARSE: Mesh =
    Mesh { gaps: &[0.2, 0.5, 1.0, 1.5, 2.0, 3.0], round_trips: &[1.0, 2.0], few_small: true };

/// A grid of transfers with the fewest Δ, where time is short: long bursts stay, since without them no gap is steady.
pub const SHORT: Mesh = Mesh { gaps: &[1.0, 2.0], round_trips: &[1.0, 2.0], few_small: true };

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
        f64::from(messages) * (self.gap.max(self.send_overhead + delay) + self.untimed)
            + self.rtt
            + delay
    }

    /// The M of bursts with a Δ above the gap at which the replies have returned for long enough.
    fn settled(&self, delay: f64) -> u32 {
        let cost = self.send_overhead.max(0.0) + delay;
        (8.0 * self.rtt / cost).max(32.0).max(LONG_BURST / cost) as u32
    }
}

/// Largest share of a launch's time for one round over all points.
const ROUND_SHARE: f64 = 0.1;

/// The curves of the signature. `samples` gives the number of samples per batch for an M and a Δ.
///
/// Δ = 0 gets every small M (the send-only regime), then a geometric series up to the M at which
/// the gap was stable. The other Δ are fractions and multiples of the gap, and of the round trip if
/// it is much longer than the gap. Curves with Δ below the gap go as far as that of Δ = 0, since
/// they are flat only once the capacity is full. Curves above the gap end soon after the first
/// replies, since from then on the sender is the bottleneck. If a round would take too much of the
/// budget, the largest M is halved until it does not.
pub fn choose(look: &FirstLook, limits: Limits, samples: impl Fn(u32, f64) -> u32) -> Vec<Curve> {
    // A quarter of the largest M is a point, too.
    let quarters = if limits.period > 1 { 4 * limits.period } else { 1 };
    let mut top = look.messages.max(limits.least).min(limits.most).next_multiple_of(quarters);
    loop {
        let curves = up_to(look, top, limits);
        let round = round_time(look, &curves, &samples, |time| time);
        if round <= ROUND_SHARE * limits.budget || top <= limits.least {
            return curves;
        }
        top = (top / 2).next_multiple_of(quarters).max(limits.least);
    }
}

/// The curves where time is short: few points, from which all lines can still be read.
///
/// Requests go out in periods of flow control. Only a line from the same place in one period to the same place in
/// another has the slope of the whole, so M are whole periods: up to 8 at least, however slow the machine. Δ is the gap,
/// where neighbouring messages overlap most, and so long that they do not overlap.
pub fn short(look: &FirstLook, limits: Limits) -> Vec<Curve> {
    let (period, least) = (limits.period, limits.least);
    let top = look.messages.clamp(least, 2 * least) / (4 * period) * (4 * period);
    let mut messages: Vec<u32> = (1..=8).chain([16, top / 4, top / 2, top]).collect();
    messages.sort_unstable();
    messages.dedup();
    let near = [period, 2 * period, 4 * period].to_vec();
    let far = look.rtt.max(2.0 * look.gap);
    let far = [1.0, 1.5, 2.0].map(|times| {
        let delay = times * far;
        // The smallest M far from the largest: the slope is known as well with a quarter of the batches.
        let top = look.settled(delay);
        Curve { delay, messages: vec![top / 8, top / 2, top] }
    });
    let short = [Curve { delay: 0.0, messages }, Curve { delay: look.gap, messages: near }];
    short.into_iter().chain(far).collect()
}

/// Approximate time of a round over all points, in seconds; `taken` is the time that batches of a point take in it, by
/// that of the samples of one.
pub fn round_time(
    look: &FirstLook,
    curves: &[Curve],
    samples: impl Fn(u32, f64) -> u32,
    taken: impl Fn(f64) -> f64,
) -> f64 {
    let batch = |messages: u32, delay| {
        taken(look.sample_time(messages, delay) * f64::from(samples(messages, delay)))
    };
    let of = |curve: &Curve| curve.messages.iter().map(|m| batch(*m, curve.delay)).sum::<f64>();
    curves.iter().map(of).sum::<f64>() * 1e-9
}

/// Smallest duration of bursts with Δ above the gap, in nanoseconds, so that jitter at their ends
/// does not blur the slope.
const LONG_BURST: f64 = 1e5;

fn up_to(look: &FirstLook, top: u32, limits: Limits) -> Vec<Curve> {
    let (mesh, least) = (limits.mesh, limits.least.min(32));
    let mut curves = vec![Curve { delay: 0.0, messages: dense(top, limits.period) }];
    let mut delays: Vec<f64> = mesh.gaps.iter().map(|f| f * look.gap).collect();
    let of_round_trip = mesh.round_trips.iter().map(|f| f * look.rtt);
    delays.extend(of_round_trip.filter(|delay| *delay > 3.5 * look.gap));
    for delay in delays {
        let past =
            if delay < 1.2 * look.gap { top } else { look.settled(delay).min(top.max(least)) };
        curves.push(Curve { delay, messages: sparse(past, mesh.few_small) });
    }
    curves
}

/// 1, 2, … 8, then steps of about 1.5 up to `top`; beyond a period, multiples of it.
fn dense(top: u32, period: u32) -> Vec<u32> {
    let mut messages: Vec<u32> = (1..=8.min(top)).collect();
    let mut next = 8.0_f64;
    while next < f64::from(top) {
        next *= 1.5;
        let near = next.round() as u32;
        let whole = if near > period { near.next_multiple_of(period) } else { near };
        messages.push(whole.min(top));
    }
    messages.dedup();
    messages
}

/// Powers of four below half of `top`, or few small M; then three points close together for the
/// slope.
fn sparse(top: u32, few_small: bool) -> Vec<u32> {
    let mut messages: Vec<u32> = match few_small {
        true => vec![1, top / 4],
        false => (0..15).map(|k| 1 << (2 * k)).take_while(|m| *m < top / 2).collect(),
    };
    messages.extend([top / 2, top * 3 / 4, top]);
    messages.retain(|m| *m > 0);
    messages.dedup();
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Load;

    /// The paper's Paragon, in nanoseconds: RTT 19.8 µs, g 7.6 µs.
    const PARAGON: FirstLook = FirstLook {
        rtt: 19_800.0,
        send_overhead: 1_400.0,
        gap: 7_600.0,
        messages: 256,
        untimed: 0.0,
        around: 0.0,
    };

    #[test]
    fn the_grid_follows_the_machine_it_is_chosen_for() {
        let look = PARAGON;
        let limits =
            Limits { least: 64, period: 1, most: u32::MAX, mesh: FINE, visits: 4.0, budget: 100.0 };
        let curves = choose(&look, limits, |_, _| 50);
        assert_eq!(curves[0].messages[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(curves[0].messages.last(), Some(&256));
        // Idle is 4 µs: there are delays on both sides, and some far above the gap.
        assert!(curves.iter().any(|c| c.delay > 0.0 && c.delay < 4_000.0));
        assert!(curves.iter().filter(|c| c.delay >= 2.0 * look.gap).count() >= 2);
        for curve in &curves {
            assert!(curve.messages.is_sorted_by(|a, b| a < b), "{curve:?}");
        }
        // A machine a hundred times faster gets delays a hundred times shorter.
        let fast = FirstLook { rtt: 198.0, send_overhead: 14.0, gap: 76.0, ..look };
        for (slow, fast) in curves.iter().zip(choose(&fast, limits, |_, _| 50)) {
            assert!((slow.delay / 100.0 - fast.delay).abs() < 1e-9);
            // On the faster one, bursts above the gap may go on for longer.
            assert!(slow.messages.last() <= fast.messages.last(), "{slow:?} {fast:?}");
        }
        // A machine a thousand times slower is not measured for longer than it may take.
        let top = |look: &FirstLook, limits: Limits, samples: u32| {
            choose(look, limits, |_, _| samples)[0].messages.last().copied()
        };
        let slow = FirstLook { rtt: 2e7, send_overhead: 1.4e6, gap: 7.6e6, ..look };
        assert_eq!(top(&slow, limits, 50), Some(64));
        // One whose messages take as long outside of the timed section is no faster.
        assert_eq!(top(&FirstLook { untimed: 7.6e6, ..look }, limits, 50), Some(64));
        // The coarse grid has the same arm with fewer points.
        let coarse = choose(&look, Limits { mesh: COARSE, ..limits }, |_, _| 50);
        let count = |curves: &[Curve]| curves.iter().map(|c| c.messages.len()).sum::<usize>();
        assert!(count(&coarse) < count(&curves), "{coarse:?}");
        assert_eq!(coarse.last().map(|c| c.delay), curves.last().map(|c| c.delay));
        assert!(coarse.iter().all(|c| c.messages.is_sorted_by(|a, b| a < b)), "{coarse:?}");
        // With time enough M goes as far as it took the gap to be stable, or as is allowed.
        assert_eq!(top(&look, limits, 50), Some(256));
        assert_eq!(top(&look, Limits { most: 100, ..limits }, 50), Some(100));
    }

    #[test]
    fn delays_and_lengths_are_those_of_the_formula() {
        let look = PARAGON;
        let limits =
            Limits { least: 64, period: 1, most: u32::MAX, mesh: FINE, visits: 4.0, budget: 1e9 };
        let curves = choose(&look, limits, |_, _| 50);
        // Multiples of the gap, and those of the round trip that are beyond 3.5 gaps.
        let delays: Vec<f64> = curves.iter().map(|curve| curve.delay.round()).collect();
        let of_gap = [760.0, 1900.0, 3800.0, 5700.0, 7600.0, 11_400.0, 15_200.0, 22_800.0];
        assert_eq!(delays, [&[0.0][..], &of_gap, &[29_700.0, 39_600.0]].concat());
        let longest = |look: &FirstLook, delay: f64| {
            let curves = choose(look, limits, |_, _| 50);
            let of = |curve: &&Curve| (curve.delay - delay).abs() < 1.0;
            *curves.iter().find(of).unwrap().messages.last().unwrap()
        };
        // Up to 1.2 gaps as far as without a delay; above, eight round trips' worth of os + Δ, but 32.
        assert_eq!([longest(&look, 7600.0), longest(&look, 11_400.0)], [256, 32]);
        let far = FirstLook { rtt: 1e6, messages: 4096, ..look };
        assert_eq!(longest(&far, 22_800.0), (8e6_f64 / 24_200.0) as u32);
        // Or for 100 µs.
        let fast = FirstLook { rtt: 198.0, send_overhead: 14.0, gap: 76.0, messages: 4096, ..look };
        assert_eq!(longest(&fast, 228.0), (1e5_f64 / 242.0) as u32);
    }

    #[test]
    fn where_time_is_short_the_greatest_m_is_halved_as_often_as_it_takes() {
        let look = FirstLook {
            rtt: 2e7,
            send_overhead: 1.4e6,
            gap: 7.6e6,
            messages: 256,
            untimed: 0.0,
            around: 0.0,
        };
        let top = |budget: f64| {
            let limits =
                Limits { least: 64, period: 1, most: u32::MAX, mesh: FINE, visits: 4.0, budget };
            *choose(&look, limits, |_, _| 50)[0].messages.last().unwrap()
        };
        let mut tops: Vec<u32> = (0..40).map(|i| top(10.0 * 1.5_f64.powi(i))).collect();
        tops.dedup();
        assert_eq!(tops, [64, 128, 256]);
    }

    #[test]
    fn a_short_grid_has_few_points_in_whole_periods() {
        let of = |look: FirstLook, period| {
            let limits = Load::Words.limits(1.0);
            short(&look, Limits { least: 8 * period, period, ..limits })
        };
        let expected = |delay, messages: &[u32]| Curve { delay, messages: messages.to_vec() };
        let curves = of(PARAGON, 16);
        // Without a delay up to the M at which the gap was stable.
        assert_eq!(curves[0], expected(0.0, &[1, 2, 3, 4, 5, 6, 7, 8, 16, 64, 128, 256]));
        assert_eq!(curves[1], expected(7600.0, &[16, 32, 64]));
        let far = [19_800.0, 29_700.0, 39_600.0];
        assert_eq!(curves[2..], far.map(|delay| expected(delay, &[4, 16, 32])));
        // But to 8 periods at least, and 16 at most.
        let tops = [16, 30, 33, 100].map(|period| *of(PARAGON, period)[0].messages.last().unwrap());
        assert_eq!(tops, [256, 240, 264, 800]);
        // Two gaps where round trips are shorter.
        let delays = of(FirstLook { rtt: 10_000.0, ..PARAGON }, 16);
        assert_eq!(delays.last().map(|curve| curve.delay), Some(30_400.0));
    }
}

//! The Intel iPSC/860 as CoMet measured it: t = 79 µs + 0.63 µs/B·n up to 100 bytes, and
//! 156 µs + 0.41 µs/B·n above.

use bandgap_model::hockney::{Breaks, Fit, HockneyOptions};
use bandgap_model::{Estimate, SizedTimes};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::fit;
use super::truth::{Piece, Truth};

fn truth(noise: f64) -> Truth {
    let pieces = vec![
        Piece { to: 100, t0: 79_000.0, slope: 630.0 },
        Piece { to: u64::MAX, t0: 156_000.0, slope: 410.0 },
    ];
    Truth { pieces, noise }
}

/// 0, 1, 2, 4, … 4 MiB.
fn powers() -> Vec<u64> {
    std::iter::once(0).chain((0..=22).map(|power| 1 << power)).collect()
}

fn table(noise: f64, seed: u64) -> Vec<SizedTimes> {
    truth(noise).table(&powers(), &mut Xoshiro256PlusPlus::seed_from_u64(seed))
}

/// t0, r∞, n½ and π0 of both segments: n½ = 79000/630 and 156000/410, π0 = 10⁹/79000 and
/// 10⁹/156000.
const EXPECTED: [[f64; 4]; 2] = [
    [79_000.0, 1e9 / 630.0, 125.396_825_4, 12_658.227_85],
    [156_000.0, 1e9 / 410.0, 380.487_804_9, 6_410.256_41],
];

fn with_truth(fit: &Fit) -> Vec<(Estimate, f64)> {
    let parameters = fit.segments.iter().flat_map(|s| [s.t0, s.r_inf, s.n_half, s.pi0]);
    let both = parameters.zip(EXPECTED.into_iter().flatten());
    both.filter_map(|(estimate, truth)| Some((estimate?, truth))).collect()
}

#[test]
fn exact_times_give_exact_parameters() {
    let fit = fit(&table(0.0, 1), &HockneyOptions::default()).unwrap();
    for fit in [&fit.relative, &fit.ordinary] {
        let found = with_truth(fit);
        assert_eq!(found.len(), 8);
        for (estimate, truth) in found {
            assert!((estimate.value / truth - 1.0).abs() < 1e-6, "{estimate:?} is not {truth}");
        }
    }
}

#[test]
fn two_per_cent_of_noise_leave_two_segments() {
    let (mut held, mut all) = (0, 0);
    for seed in 0..100 {
        let fit = fit(&table(0.02, seed), &HockneyOptions::default()).unwrap();
        let [found] = fit.breakpoints[..] else { panic!("{:?}, seed {seed}", fit.breakpoints) };
        assert_eq!((found.last_below, found.first_above), (64, 128), "seed {seed}");
        assert_eq!((found.low, found.high), (64, 128), "seed {seed}");
        let parameters = with_truth(&fit.relative);
        assert_eq!(parameters.len(), 8, "seed {seed}: {:?}", fit.relative.findings);
        for (estimate, truth) in parameters {
            assert!((estimate.value / truth - 1.0).abs() < 0.15, "{estimate:?} is not {truth}");
            held += usize::from(estimate.low <= truth && truth <= estimate.high);
            all += 1;
        }
    }
    // 800 intervals, those of one segment correlated: the share's standard deviation is about 1.2 %.
    let share = f64::from(held as u32) / f64::from(all as u32);
    assert!((0.92..=0.98).contains(&share), "{share}");
}

#[test]
fn the_break_of_the_manual_serves_as_well() {
    let options = HockneyOptions { breaks: Breaks::At(vec![100]), ..HockneyOptions::default() };
    let given = fit(&table(0.02, 3), &options).unwrap();
    let found = fit(&table(0.02, 3), &HockneyOptions::default()).unwrap();
    assert_eq!(given.relative, found.relative);
    assert_eq!(given.ordinary, found.ordinary);
    let [at] = given.breakpoints[..] else { panic!("{:?}", given.breakpoints) };
    assert_eq!(
        (at.last_below, at.first_above, at.low, at.high, at.given),
        (64, 128, 100, 100, true)
    );
}

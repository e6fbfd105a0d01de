//! Points over several launches, by simulation.

use bandgap_stats::Point;
use bandgap_stats::rounds::InRound;
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

const TRIALS: usize = 1000;

/// Shares of intervals that hold the true 100: over launches, and as if all batches were of one. A launch
/// is off by `between`, each of its eight batches by 1 more.
fn coverage(launches: usize, between: f64) -> [f64; 2] {
    let normal = Normal::new(0.0, 1.0).expect("a spread above 0");
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(41);
    let mut inside = [0; 2];
    for _ in 0..TRIALS {
        let mut rounds = 0..;
        let mut launch = || {
            let centre = 100.0 + between * normal.sample(&mut generator);
            let batches = (&mut rounds).take(8);
            batches.map(|round| (round, centre + normal.sample(&mut generator))).collect()
        };
        let table: Vec<Vec<InRound>> = (0..launches).map(|_| launch()).collect();
        let over =
            Point::of_launches(table.iter().map(Vec::as_slice), 0.95).expect("batches enough");
        let pooled =
            Point::of(&bandgap_stats::rounds::of(&table.concat()), 0.95).expect("batches enough");
        for (count, point) in inside.iter_mut().zip([over, pooled]) {
            *count += usize::from(point.interval.contains(100.0));
        }
    }
    inside.map(|count| count as f64 / TRIALS as f64)
}

#[test]
fn intervals_hold_the_truth_where_launches_differ_and_pooled_ones_do_not() {
    // The share's own standard deviation is 0.7 %.
    for launches in [3, 5, 10] {
        let [over, pooled] = coverage(launches, 3.0);
        assert!((0.93..0.97).contains(&over), "{over} of {launches} launches");
        assert!(pooled < 0.6, "{pooled} pooled");
    }
    // Where they do not differ it may hold more than it promises, and not less.
    let [over, pooled] = coverage(5, 0.0);
    assert!((0.94..0.99).contains(&over) && (0.93..0.97).contains(&pooled), "{over} {pooled}");
}

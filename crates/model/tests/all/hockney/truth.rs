//! Piecewise-linear truths, and noisy tables of them.

use std::ops::Range;

use bandgap_model::SizedTimes;
use bandgap_stats::Line;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// t = t0 + slope·n up to and including `to` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub to: u64,
    pub t0: f64,
    pub slope: f64,
}

#[derive(Clone, Debug)]
pub struct Truth {
    pub pieces: Vec<Piece>,
    /// Relative standard deviation of one repetition.
    pub noise: f64,
}

/// Repetitions of each size.
pub const REPETITIONS: usize = 5;

/// Sizes that each segment of a distinguishable truth has at least.
const FEWEST: usize = 6;

/// What one line in place of two costs at least in a distinguishable truth, in squared errors. (Four
/// times the logarithm of 65 sizes, what a segment costs in the criterion, is 17.)
const APART: f64 = 60.0;

/// Why the segments of a truth cannot be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blurred {
    /// A t0 is not positive.
    Startup,
    /// A segment has fewer than [`FEWEST`] sizes.
    Sizes,
    /// One line would do for two neighbours.
    Lines,
}

/// Relative noise of one repetition, of a quiet machine to a busy one.
pub const NOISE: Range<f64> = 0.01..0.05;

/// 0, and three sizes around each power of two to 4 MiB, perturbed by up to a quarter.
pub fn sizes(generator: &mut Xoshiro256PlusPlus) -> Vec<u64> {
    let mut sizes = vec![0, 4 << 20];
    for power in 2..=22 {
        for _ in 0..3 {
            let size = f64::from(1 << power) * generator.random_range(0.75..1.25);
            sizes.push((size as u64).min(4 << 20));
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

impl Truth {
    pub fn time(&self, bytes: u64) -> f64 {
        let line = self.pieces.iter().find(|line| bytes <= line.to).expect("the last has no end");
        line.t0 + line.slope * bytes as f64
    }

    pub fn table(&self, sizes: &[u64], generator: &mut Xoshiro256PlusPlus) -> Vec<SizedTimes> {
        let noise = Normal::new(1.0, self.noise).expect("a standard deviation");
        sizes
            .iter()
            .map(|&bytes| {
                let times = (0..REPETITIONS).map(|_| self.time(bytes) * noise.sample(generator));
                SizedTimes { bytes, times_ns: times.collect() }
            })
            .collect()
    }

    /// One to three segments: t0 of 0.1 to 100 µs, 0.01 to 1 ns/B, breaks from 64 B to 512 KiB. A
    /// later segment begins at 0.8 to 1.8 times where the one before ends, and rises 0.3 to 2 times
    /// as fast.
    pub fn random(generator: &mut Xoshiro256PlusPlus, noise: Range<f64>) -> Truth {
        let log = |generator: &mut Xoshiro256PlusPlus, low: f64, high: f64| {
            (generator.random_range(low.ln()..high.ln())).exp()
        };
        let mut breaks: Vec<u64> = (1..generator.random_range(1..=3))
            .map(|_| log(generator, 64.0, 524_288.0) as u64)
            .collect();
        breaks.sort_unstable();
        let mut line =
            Piece { to: 0, t0: log(generator, 100.0, 100_000.0), slope: log(generator, 0.01, 1.0) };
        let mut pieces = Vec::new();
        for to in breaks {
            pieces.push(Piece { to, ..line });
            let at = (line.t0 + line.slope * to as f64) * generator.random_range(0.8..1.8);
            let slope = line.slope * generator.random_range(0.3..2.0);
            line = Piece { to: 0, t0: at - slope * to as f64, slope };
        }
        pieces.push(Piece { to: u64::MAX, ..line });
        Truth { pieces, noise: generator.random_range(noise) }
    }

    /// Whether the segments can be told apart at all: each t0 is positive, each segment has at least
    /// [`FEWEST`] of the sizes, and one line in place of any two neighbours would miss the exact
    /// times by so much that its Σ((t − line)/σ)² is at least [`APART`], σ being the noise of a
    /// size's mean.
    ///
    /// # Errors
    /// The first of these that does not hold.
    pub fn told_apart(&self, sizes: &[u64]) -> Result<(), Blurred> {
        let mut from = 0;
        let mut parts = Vec::new();
        for line in &self.pieces {
            let inside: Vec<u64> =
                sizes.iter().copied().filter(|&s| s >= from && s <= line.to).collect();
            from = line.to.saturating_add(1);
            parts.push(inside);
        }
        let are_apart = |pair: &[Vec<u64>]| {
            let both = pair.concat();
            let x: Vec<f64> = both.iter().map(|&bytes| bytes as f64).collect();
            let y: Vec<f64> = both.iter().map(|&bytes| self.time(bytes)).collect();
            let sigma = self.noise / (REPETITIONS as f64).sqrt();
            let weights: Vec<f64> = y.iter().map(|y| (y * sigma).powi(-2)).collect();
            let line = Line::fit(&x, &y, &weights).expect("different sizes");
            let squares =
                x.iter().zip(&y).zip(&weights).map(|((x, y), w)| w * (y - line.at(*x)).powi(2));
            squares.sum::<f64>() >= APART
        };
        if self.pieces.iter().any(|line| line.t0 <= 0.0) {
            Err(Blurred::Startup)
        } else if parts.iter().any(|part| part.len() < FEWEST) {
            Err(Blurred::Sizes)
        } else if !parts.windows(2).all(are_apart) {
            Err(Blurred::Lines)
        } else {
            Ok(())
        }
    }
}

/// The `count` first distinguishable truths with their tables.
pub fn truths(seed: u64, count: usize, noise: Range<f64>) -> Vec<(Truth, Vec<SizedTimes>)> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut found = Vec::new();
    while found.len() < count {
        let sizes = sizes(&mut generator);
        let truth = Truth::random(&mut generator, noise.clone());
        if truth.told_apart(&sizes).is_ok() {
            let table = truth.table(&sizes, &mut generator);
            found.push((truth, table));
        }
    }
    found
}

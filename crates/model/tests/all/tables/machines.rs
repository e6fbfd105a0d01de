//! Tables of observations with noise, from machines whose parameters are known.

use crate::machine::{Params, issue_time};
use bandgap_model::{Phase, Row};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How a table is laid out and disturbed.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// Message counts of every curve.
    pub messages: &'a [u64],
    /// Delays in nanoseconds.
    pub delays: &'a [f64],
    /// Rows per point.
    pub rows: usize,
    /// Rows that are measured together; where that is one, the table names no batches.
    pub batch: usize,
    /// Relative standard deviation of a row.
    pub noise: f64,
    /// And of a batch: what its rows have in common.
    pub drift: f64,
    /// Share of rows that take two to ten times as long.
    pub outliers: f64,
}

impl Layout<'_> {
    /// The rows of a table whose true issue times are `elapsed(messages, delay)`.
    pub fn rows(&self, rtt: f64, elapsed: impl Fn(u64, f64) -> f64, seed: u64) -> Vec<Row> {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        let noise = Normal::new(1.0, self.noise).expect("a finite noise");
        let drift = Normal::new(1.0, self.drift).expect("a finite drift");
        let mut rows = Vec::new();
        let mut repeat = |kind, messages, delay_ns, truth: f64| {
            let mut common = 1.0;
            for at in 0..self.rows {
                if at % self.batch == 0 && self.drift > 0.0 {
                    common = drift.sample(&mut generator);
                }
                let mut elapsed_ns = truth * common * noise.sample(&mut generator);
                if generator.random_bool(self.outliers) {
                    elapsed_ns *= generator.random_range(2.0..10.0);
                }
                let batch = (self.batch > 1).then_some((at / self.batch) as u64);
                rows.push(Row {
                    kind,
                    messages,
                    delay_ns,
                    elapsed_ns,
                    batch,
                    round: None,
                    launch: None,
                });
            }
        };
        repeat(Phase::Rtt, 1, 0.0, rtt);
        for &delay in self.delays {
            for &messages in self.messages {
                repeat(Phase::Issue, messages, delay, elapsed(messages, delay));
            }
        }
        rows
    }

    /// The rows of a table of the replayed LogP machine.
    pub fn replayed(&self, params: &Params, seed: u64) -> Vec<Row> {
        self.rows(params.rtt(), |messages, delay| issue_time(params, messages, delay), seed)
    }
}

/// The powers of two from 1 to 256.
pub const POWERS: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Delays on both sides of all three machines' idle times.
pub const DELAYS: [f64; 8] = [0.0, 2000.0, 4000.0, 8000.0, 12_000.0, 16_000.0, 24_000.0, 32_000.0];

/// A table as it is usually measured.
pub const USUAL: Layout<'static> = Layout {
    messages: &POWERS,
    delays: &DELAYS,
    rows: 20,
    batch: 1,
    noise: 0.01,
    drift: 0.0,
    outliers: 0.01,
};

/// Without noise.
pub const EXACT: Layout<'static> = Layout { rows: 3, noise: 0.0, outliers: 0.0, ..USUAL };

/// Meiko CS-2: table 4 of the LogP paper.
pub const MEIKO: Params = Params {
    send_overhead: 1700.0,
    recv_overhead: 1600.0,
    gap: 13_600.0,
    latency: 7500.0,
    capacity: 16,
};

/// The reference machines.
pub const MACHINES: [(&str, Params); 3] =
    [("Paragon", Params::PARAGON), ("Meiko", MEIKO), ("Myrinet", Params::MYRINET)];

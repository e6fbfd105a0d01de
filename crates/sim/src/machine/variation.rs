//! How a machine differs from launch to launch.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Machine;

/// The greatest time of a varied parameter, in picoseconds or femtoseconds.
const MOST: f64 = 1e15;
/// Parameters with factors of their own.
const PARAMETERS: usize = 10;

/// How parameters of a launch differ from those of the file: by a factor exp(σz), z normal, that is also `factor` in some
/// launches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation {
    /// σ: standard deviation of the factor's logarithm.
    pub sigma: f64,
    /// The factor of the second mode.
    pub factor: f64,
    /// The share of launches in the second mode.
    pub share: f64,
    /// Whether a launch has one factor for all parameters.
    pub is_of_launch: bool,
}

impl Variation {
    fn factors(&self, random: &mut Xoshiro256PlusPlus) -> [f64; PARAMETERS] {
        let mut draw = || {
            let normal: f64 = StandardNormal.sample(random);
            let mode = if random.random_bool(self.share) { self.factor } else { 1.0 };
            mode * (self.sigma * normal).exp()
        };
        let first = draw();
        std::array::from_fn(|at| if at == 0 || self.is_of_launch { first } else { draw() })
    }
}

impl Machine {
    /// The machine that a launch of a run with this seed meets: itself, if it does not vary.
    ///
    /// A parameter has the same factor in all protocols. Machines with other names draw other factors.
    #[must_use]
    pub fn of_launch(&self, seed: u64, launch: u32) -> Self {
        let mut own = self.clone();
        let Some(variation) = self.variation else { return own };
        // FNV-1a.
        let drawn = seed.to_le_bytes().into_iter().chain(launch.to_le_bytes());
        let seed = drawn.chain(self.name.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let [os, or, g, l, h, per_byte, busy, turnaround, nonblocking, daxpy] =
            variation.factors(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let words = [
            (&mut own.send_overhead, os),
            (&mut own.recv_overhead, or),
            (&mut own.gap, g),
            (&mut own.latency, l),
            (&mut own.hop, h),
            (&mut own.turnaround, turnaround),
            (&mut own.nonblocking, nonblocking),
            (&mut own.daxpy_per_element, daxpy),
        ];
        let bytes = own.protocols.iter_mut().flat_map(|of| {
            [
                (&mut of.send_overhead, os),
                (&mut of.recv_overhead, or),
                (&mut of.gap, g),
                (&mut of.latency, l),
                (&mut of.hop, h),
                (&mut of.gap_per_byte, per_byte),
                (&mut of.overhead_per_byte, busy),
            ]
        });
        for (time, factor) in words.into_iter().chain(bytes).filter(|(time, _)| **time > 0) {
            *time = (*time as f64 * factor).round().clamp(1.0, MOST) as u64;
        }
        own
    }
}

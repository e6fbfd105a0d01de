//! How a machine differs from launch to launch.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::Machine;

/// The greatest time of a varied parameter, in picoseconds or femtoseconds.
const MOST: f64 = 1e15;

/// How parameters of a launch differ from those of the file: by a factor exp(σz), z normal, in the second mode times `factor`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Variation {
    /// σ: standard deviation of the factor's logarithm.
    pub sigma: f64,
    /// The factor of the second mode.
    pub factor: f64,
    /// The chance of the second mode.
    pub share: f64,
    /// What has a factor of its own.
    pub per: Per,
}

/// What has a factor of its own.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// Each parameter of a launch; it is the same in all protocols.
    Parameter,
    /// A launch.
    Launch,
}

impl Default for Variation {
    fn default() -> Self {
        Self { sigma: 0.0, factor: 1.0, share: 0.5, per: Per::Parameter }
    }
}

impl Variation {
    fn factors(&self, seed: u64) -> [f64; 10] {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let all = std::array::from_fn(|_| {
            let normal: f64 = StandardNormal.sample(&mut random);
            let mode = if random.random_bool(self.share) { self.factor } else { 1.0 };
            mode * (self.sigma * normal).exp()
        });
        if self.per == Per::Launch { [all[0]; 10] } else { all }
    }
}

impl Machine {
    /// The machine that a launch of a run with this seed meets: itself, if it does not vary. Machines with other names draw
    /// other factors.
    #[must_use]
    pub fn of_launch(&self, seed: u64, launch: u32) -> Self {
        let mut own = self.clone();
        let Some(variation) = self.variation else { return own };
        // FNV-1a.
        let drawn = seed.to_le_bytes().into_iter().chain(launch.to_le_bytes());
        let seed = drawn.chain(self.name.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let [os, or, g, l, h, per_byte, busy, reply, call, daxpy] = variation.factors(seed);
        let vary = |time: &mut u64, factor: f64| {
            *time = (*time as f64 * factor).clamp(1.0_f64.min(*time as f64), MOST).round() as u64;
        };
        vary(&mut own.send_overhead, os);
        vary(&mut own.recv_overhead, or);
        vary(&mut own.gap, g);
        vary(&mut own.latency, l);
        vary(&mut own.hop, h);
        vary(&mut own.turnaround, reply);
        vary(&mut own.nonblocking, call);
        vary(&mut own.daxpy_per_element, daxpy);
        for of in &mut own.protocols {
            vary(&mut of.send_overhead, os);
            vary(&mut of.recv_overhead, or);
            vary(&mut of.gap, g);
            vary(&mut of.latency, l);
            vary(&mut of.hop, h);
            vary(&mut of.gap_per_byte, per_byte);
            vary(&mut of.overhead_per_byte, busy);
        }
        own
    }
}

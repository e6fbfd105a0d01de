//! The load of a signature's requests, and its consequences for batches.

use bandgap_comm::Delay;
use bandgap_kernels::{Asking, Burst, Get, Order, Pair, Store};
use bandgap_units::Bytes;
use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::grid::{COARSE, FINE, Limits};
use crate::sizes::{SIZES_REGION, samples_within};

/// What each request of a signature carries.
#[derive(
    Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Load {
    /// Only its words: a small message.
    #[display("words")]
    Words,
    /// Bytes stored in the replier's memory.
    #[display("stores of {}", Bytes((*bytes).into()))]
    Store {
        /// Bytes of each.
        bytes: u32,
    },
    /// Bytes got from the replier's memory.
    #[display("gets of {}", Bytes((*bytes).into()))]
    Get {
        /// Bytes of each.
        bytes: u32,
    },
}

/// Largest number of bytes that a batch of transfers moves; longer transfers have fewer samples.
const BATCH_BYTES: u64 = 1 << 20;
/// Smallest number of samples in a batch of transfers.
pub const LEAST_SAMPLES: u32 = 3;
/// Largest number: several signatures share the time of one.
const MOST_SAMPLES: u32 = 20;

impl Load {
    /// Bytes that each request moves.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Words => 0,
            Self::Store { bytes } | Self::Get { bytes } => bytes,
        }
    }

    /// Its name in keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Store { .. } => "store",
            Self::Get { .. } => "get",
        }
    }

    /// The same load with another number of bytes, if it moves bytes.
    pub fn with(self, bytes: u32) -> Self {
        match self {
            Self::Words => Self::Words,
            Self::Store { .. } => Self::Store { bytes },
            Self::Get { .. } => Self::Get { bytes },
        }
    }

    /// True for stores and gets, even of 0 bytes.
    pub fn is_transfer(self) -> bool {
        self != Self::Words
    }

    /// A batch of `messages` requests in a row with `delay` after each. Transfers are between the
    /// first two ranks, whoever asks whom.
    pub fn order(
        self,
        asking: Asking,
        messages: u32,
        delay: Delay,
        samples: u32,
        ranks: usize,
    ) -> Order {
        let (pair, bytes) = (Pair::FIRST, self.bytes() as usize);
        match self {
            Self::Words => Order::of(&Burst { asking, messages, delay }, samples, ranks),
            Self::Store { .. } => {
                Order::of(&Store { pair, messages, bytes, delay }, samples, ranks)
            }
            Self::Get { .. } => Order::of(&Get { pair, messages, bytes, delay }, samples, ranks),
        }
    }

    /// Samples of a batch of `messages` messages: `most` if possible.
    pub fn samples(self, messages: u32, most: u32) -> u32 {
        match self {
            Self::Words => most,
            _ => {
                let most = most.min(MOST_SAMPLES);
                samples_within(BATCH_BYTES, self.bytes(), messages, LEAST_SAMPLES, most)
            }
        }
    }

    /// The range of M and the density of the grid: several signatures of transfers share the time
    /// of one of words. If a burst wraps around the region, bytes that it sends again may still be
    /// in a cache. Only for the longest transfers is there no room to avoid that.
    pub fn limits(self, budget: f64) -> Limits {
        const LEAST: u32 = 16;
        match self {
            Self::Words => {
                Limits { least: 64, period: 1, most: u32::MAX, mesh: FINE, visits: 4.0, budget }
            }
            _ => {
                let room = self.bytes().next_multiple_of(64).max(1);
                let most = (SIZES_REGION as u32 / room).max(LEAST);
                Limits { least: LEAST, period: 1, most, mesh: COARSE, visits: 1.0, budget }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_transfers_have_shorter_bursts_and_fewer_samples() {
        let small = Load::Store { bytes: 64 };
        // 1 MiB / 64 B is more than are taken, and 8 MiB / 64 B are 131072 places.
        assert_eq!((small.samples(1, 50), small.limits(1.0).most), (20, 131_072));
        let long = Load::Get { bytes: 256 << 10 };
        // 1 MiB / 256 KiB = 4 samples of one; 8 MiB / 256 KiB = 32 places.
        assert_eq!((long.samples(1, 50), long.samples(16, 50), long.limits(1.0).most), (4, 3, 32));
        // Two places are too few for a slope: bursts go round.
        assert_eq!(Load::Store { bytes: 4 << 20 }.limits(1.0).most, 16);
        assert_eq!(Load::Words.samples(4096, 50), 50);
    }
}

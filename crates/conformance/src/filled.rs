//! Exposed memory of which every byte is known.

use super::ranks::Am;
use super::{EXPOSED, Harness};
use bandgap_comm::{Bulk, CommError, Rank};

/// The byte at an offset of a rank's memory before anything was transferred. It differs from the
/// byte at that offset of other ranks, and from those a power of two away.
pub(super) fn byte_at(rank: Rank, at: usize) -> u8 {
    let mixed = (at ^ at >> 7 ^ at >> 14 ^ at >> 21) as u8;
    mixed.wrapping_add((rank as u8).wrapping_mul(101))
}

/// The endpoints of a new run, their memory filled with [`byte_at`] up to [`EXPOSED`].
pub(super) fn filled<H: Harness>(size: usize) -> Vec<H::E> {
    let mut ends = H::endpoints(size, EXPOSED);
    for (rank, end) in ends.iter_mut().enumerate() {
        let written = end.write_exposed(0, &Filled::new(rank).0);
        written.expect("harnesses expose as many bytes as the suite needs");
    }
    ends
}

/// What a rank's memory must hold.
pub(super) struct Filled(Vec<u8>);

impl Filled {
    pub(super) fn new(rank: Rank) -> Self {
        Self((0..EXPOSED).map(|at| byte_at(rank, at)).collect())
    }

    /// From offset `at` on it must hold these bytes.
    pub(super) fn expect(&mut self, at: usize, bytes: impl Iterator<Item = u8>) {
        for (held, byte) in self.0[at..].iter_mut().zip(bytes) {
            *held = byte;
        }
    }

    /// Compares this with the memory of the rank `am`.
    pub(super) fn check<E: Bulk>(&self, am: &Am<E>) -> Result<(), CommError> {
        let rank = am.rank();
        let mut held = vec![0; EXPOSED];
        am.endpoint().read_exposed(0, &mut held)?;
        let wrong = held.iter().zip(&self.0).position(|(held, expected)| held != expected);
        if let Some(at) = wrong {
            let last = held.iter().zip(&self.0).rposition(|(held, expected)| held != expected);
            panic!("rank {rank}: other bytes between offsets {at} and {last:?}");
        }
        Ok(())
    }
}

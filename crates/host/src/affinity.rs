//! Masks of cores, of any length. The kernel's masks are as long as the machine has cores, while
//! those of `libc` and `rustix` end at 1024.
//!
//! Invariant: the kernel is given the address and the length of memory that lives during the call,
//! and writes to no other memory.

use std::io;
use std::mem::size_of_val;

use crate::cpu_list::HIGHEST;

const BITS: usize = u64::BITS as usize;

/// A set of cores, with one bit for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mask(Vec<u64>);

impl Mask {
    /// These cores, without numbers that cannot exist.
    pub fn of(cpus: &[usize]) -> Self {
        let most = cpus.iter().copied().filter(|cpu| *cpu <= HIGHEST).max().unwrap_or(0);
        let mut words = vec![0; most / BITS + 1];
        for cpu in cpus.iter().filter(|cpu| **cpu <= most) {
            words[cpu / BITS] |= 1 << (cpu % BITS);
        }
        Self(words)
    }

    /// Its cores, in ascending order.
    pub fn cpus(&self) -> impl Iterator<Item = usize> {
        let bits = self.0.iter().enumerate();
        bits.flat_map(|(at, word)| {
            (0..BITS).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * BITS + bit)
        })
    }

    /// Cores on which the calling thread may run.
    ///
    /// # Errors
    /// The kernel refused.
    pub fn get() -> io::Result<Self> {
        let mut words = vec![0_u64; (HIGHEST + 1) / BITS];
        // SAFETY: the kernel writes at most as many bytes as it is told, which `words` has. Any
        // bits are a valid u64.
        let filled = unsafe {
            libc::sched_getaffinity(0, size_of_val(&words[..]), words.as_mut_ptr().cast())
        };
        if filled == 0 { Ok(Self(words)) } else { Err(io::Error::last_os_error()) }
    }

    /// Restricts the calling thread to these cores.
    ///
    /// # Errors
    /// None of them is online and allowed.
    pub fn set(&self) -> io::Result<()> {
        let words = &self.0[..];
        // SAFETY: the kernel reads as many bytes as it is told, which `words` has.
        let done = unsafe { libc::sched_setaffinity(0, size_of_val(words), words.as_ptr().cast()) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_room_for_any_core() {
        for cpu in [0, 63, 64, 1023, 1024, 8191, 65_535] {
            assert_eq!(Mask::of(&[cpu]).cpus().collect::<Vec<_>>(), [cpu]);
        }
        assert_eq!(Mask::of(&[65_536]).cpus().count(), 0);
    }
}

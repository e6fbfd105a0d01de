//! Masks of cores, of any length: the kernel's own is as long as the machine has cores, and those of `libc` and
//! `rustix` end at 1024.
//!
//! Invariant: the kernel is given the address and the length of memory that lives during the call, and writes to no
//! other.

use std::io;
use std::mem::size_of_val;

/// Highest core, far above the kernel's limit of 8192.
const HIGHEST: usize = 65_535;

const BITS: usize = u64::BITS as usize;

/// A set of cores, a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mask(Vec<u64>);

impl Mask {
    /// One core; `None` beyond all that there can be.
    pub fn only(cpu: usize) -> Option<Self> {
        let mut words = (cpu <= HIGHEST).then(|| vec![0; cpu / BITS + 1])?;
        words[cpu / BITS] = 1 << (cpu % BITS);
        Some(Self(words))
    }

    /// Its cores, ascending.
    pub fn cpus(&self) -> impl Iterator<Item = usize> {
        let bits = self.0.iter().enumerate();
        bits.flat_map(|(at, word)| {
            (0..BITS).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * BITS + bit)
        })
    }

    /// Those on which the calling thread may run.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn get() -> io::Result<Self> {
        grown(|words| {
            // SAFETY: the kernel writes at most as many bytes as it is told, which `words` has. Any bits are a value
            // of u64.
            let filled = unsafe {
                libc::sched_getaffinity(0, size_of_val(words), words.as_mut_ptr().cast())
            };
            if filled == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        })
    }

    /// Lets the calling thread run on these cores only.
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

/// A mask that `fill` fills, which refuses one shorter than the machine's with `EINVAL`. Then it is tried with one
/// twice as long.
fn grown(mut fill: impl FnMut(&mut [u64]) -> io::Result<()>) -> io::Result<Mask> {
    let mut words = vec![0; 1024 / BITS];
    loop {
        match fill(&mut words) {
            Ok(()) => return Ok(Mask(words)),
            Err(error)
                if error.raw_os_error() == Some(libc::EINVAL) && words.len() * BITS <= HIGHEST =>
            {
                words.resize(2 * words.len(), 0);
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_room_for_any_core() {
        for cpu in [0, 63, 64, 1023, 1024, 8191, 65_535] {
            assert_eq!(Mask::only(cpu).unwrap().cpus().collect::<Vec<_>>(), [cpu]);
        }
        assert_eq!(Mask::only(65_536), None);
    }

    #[test]
    fn the_mask_grows_until_the_kernel_takes_it() {
        // A machine of 4096 cores, of which the last is allowed.
        let kernel = |words: &mut [u64]| match words.len() {
            64.. => {
                words[63] = 1 << 63;
                Ok(())
            }
            _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
        };
        assert_eq!(grown(kernel).unwrap().cpus().collect::<Vec<_>>(), [4095]);
        let never = grown(|_| Err(io::Error::from_raw_os_error(libc::EINVAL)));
        assert_eq!(never.unwrap_err().raw_os_error(), Some(libc::EINVAL));
        let other = grown(|_| Err(io::Error::from_raw_os_error(libc::EPERM)));
        assert_eq!(other.unwrap_err().raw_os_error(), Some(libc::EPERM));
    }
}

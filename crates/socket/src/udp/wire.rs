//! What carries datagrams in a run: a socket, which loses, doubles, reorders and changes some where that was asked for.

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};

use bandgap_comm::{Faults, Rank};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Datagrams;

/// A socket for datagrams, with faults on purpose or without any.
#[derive(Debug)]
pub struct Wire<D = UdpSocket> {
    datagrams: D,
    faulty: Option<Box<Faulty>>,
}

impl<D> Wire<D> {
    /// The end at `rank` of its pair with `peer`. Each end of each pair draws its own faults.
    pub fn over(datagrams: D, faults: Option<Faults>, rank: Rank, peer: Rank) -> Self {
        let faulty = faults.map(|faults| {
            let end = (rank as u64) << 32 | peer as u64;
            let random = Xoshiro256PlusPlus::seed_from_u64(faults.seed ^ end);
            Box::new(Faulty { faults, random, held: None })
        });
        Self { datagrams, faulty }
    }
}

impl<D: AsFd> AsFd for Wire<D> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.datagrams.as_fd()
    }
}

impl<D: Datagrams> Datagrams for Wire<D> {
    #[inline]
    fn send(&mut self, datagram: &[u8]) -> io::Result<bool> {
        match &mut self.faulty {
            None => self.datagrams.send(datagram),
            Some(faulty) => faulty.send(&mut self.datagrams, datagram),
        }
    }

    #[inline]
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        self.datagrams.receive(into)
    }
}

/// Draws what goes wrong.
#[derive(Debug)]
struct Faulty {
    faults: Faults,
    random: Xoshiro256PlusPlus,
    /// Is overtaken by the next.
    held: Option<Vec<u8>>,
}

impl Faulty {
    #[cold]
    #[inline(never)]
    fn send<D: Datagrams>(&mut self, over: &mut D, datagram: &[u8]) -> io::Result<bool> {
        let Faults { loss, duplicate, reorder, corrupt, .. } = self.faults;
        if self.random.random_bool(loss) {
            return Ok(true);
        }
        let changed = self.random.random_bool(corrupt).then(|| self.changed(datagram));
        let datagram = changed.as_deref().unwrap_or(datagram);
        if self.random.random_bool(reorder) {
            // One is held at a time; for a second one the system has no room.
            let free = self.held.is_none();
            self.held.get_or_insert_with(|| datagram.to_vec());
            return Ok(free);
        }
        let taken = over.send(datagram)?;
        if taken && self.random.random_bool(duplicate) {
            over.send(datagram)?;
        }
        // Where there is no room for it now, it is lost.
        self.held.take().map_or(Ok(true), |held| over.send(&held))?;
        Ok(taken)
    }

    /// The datagram with one bit changed.
    fn changed(&mut self, datagram: &[u8]) -> Vec<u8> {
        let mut changed = datagram.to_vec();
        let bit = self.random.random_range(0..(8 * changed.len()).max(1));
        if let Some(byte) = changed.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what is sent.
    struct Kept(UdpSocket, Vec<Vec<u8>>);

    impl AsFd for Kept {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    impl Datagrams for Kept {
        fn send(&mut self, datagram: &[u8]) -> io::Result<bool> {
            self.1.push(datagram.to_vec());
            Ok(true)
        }

        fn receive(&mut self, _: &mut [u8]) -> io::Result<Option<usize>> {
            Ok(None)
        }
    }

    const COUNT: u32 = 10_000;

    /// What arrives of so many numbers that are sent one after the other.
    fn arrived(faults: Option<Faults>, rank: Rank) -> Vec<Vec<u8>> {
        let kept = Kept(UdpSocket::bind("127.0.0.1:0").unwrap(), Vec::new());
        let mut wire = Wire::over(kept, faults, rank, 1 - rank);
        for number in 0..COUNT {
            while !wire.send(&number.to_le_bytes()).unwrap() {}
        }
        wire.datagrams.1
    }

    fn numbers(arrived: &[Vec<u8>]) -> Vec<u32> {
        arrived.iter().map(|bytes| u32::from_le_bytes(bytes[..].try_into().unwrap())).collect()
    }

    /// A count of draws lies within six standard deviations of what is expected.
    fn is_share(count: usize, share: f64) -> bool {
        let of = f64::from(COUNT);
        (count as f64 - share * of).abs() < 6.0 * (share * (1.0 - share) * of).sqrt()
    }

    #[test]
    fn without_faults_everything_arrives_once_and_in_order() {
        let all: Vec<u32> = (0..COUNT).collect();
        assert_eq!(numbers(&arrived(None, 0)), all);
        assert_eq!(numbers(&arrived(Some(Faults::default()), 0)), all);
    }

    #[test]
    fn each_fault_befalls_the_share_that_was_asked_for() {
        let lost = arrived(Some(Faults { loss: 0.3, ..Faults::default() }), 0);
        assert!(is_share(lost.len(), 0.7), "{}", lost.len());
        let twice = arrived(Some(Faults { duplicate: 0.1, ..Faults::default() }), 0);
        let doubled = numbers(&twice).windows(2).filter(|two| two[0] == two[1]).count();
        assert!(is_share(doubled, 0.1) && twice.len() == COUNT as usize + doubled, "{doubled}");
        let changed = arrived(Some(Faults { corrupt: 0.01, ..Faults::default() }), 0);
        let bits = |(number, arrived): (u32, u32)| (number ^ arrived).count_ones();
        let bits: Vec<u32> = (0..COUNT).zip(numbers(&changed)).map(bits).collect();
        assert!(bits.iter().all(|bits| *bits <= 1), "one bit at most");
        assert!(is_share(bits.iter().filter(|bits| **bits == 1).count(), 0.01));
    }

    #[test]
    fn what_is_overtaken_comes_after_the_next_one() {
        let late = numbers(&arrived(Some(Faults { reorder: 0.1, ..Faults::default() }), 0));
        let back: Vec<_> = late.windows(2).filter(|two| two[0] > two[1]).collect();
        assert!(!back.is_empty() && back.iter().all(|two| two[0] == two[1] + 1), "{back:?}");
        // The last one may still be waiting to be overtaken.
        assert!(is_share(back.len(), 0.1) && late.len() + 1 >= COUNT as usize, "{}", back.len());
    }

    #[test]
    fn draws_follow_from_the_seed_and_the_end() {
        let faults = |seed| Some(Faults { loss: 0.3, seed, ..Faults::default() });
        assert_eq!(arrived(faults(1), 0), arrived(faults(1), 0));
        assert_ne!(arrived(faults(1), 0), arrived(faults(2), 0));
        assert_ne!(arrived(faults(1), 0), arrived(faults(1), 1));
    }
}

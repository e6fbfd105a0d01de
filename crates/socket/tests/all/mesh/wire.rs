//! A socket for datagrams that loses, doubles, reorders and changes some.

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};

use bandgap_comm::Rank;
use bandgap_socket::udp::Datagrams;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What goes wrong with the datagrams that a rank sends: shares from 0 to 1, drawn for each datagram by itself.
pub struct Faults {
    pub loss: f64,
    pub duplicate: f64,
    /// Share that is overtaken by the next datagram.
    pub reorder: f64,
    /// Share in which a bit is changed.
    pub corrupt: f64,
    /// From which the draws follow, together with the two ranks.
    pub seed: u64,
}

/// The socket.
pub struct Wire {
    datagrams: UdpSocket,
    faults: Faults,
    random: Xoshiro256PlusPlus,
    /// Is overtaken by the next.
    held: Option<Vec<u8>>,
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.datagrams.as_fd()
    }
}

impl Wire {
    /// The end at `rank` of its pair with `peer`. Each end of each pair draws its own faults.
    pub fn over(datagrams: UdpSocket, faults: Faults, rank: Rank, peer: Rank) -> Self {
        let end = (rank as u64) << 32 | peer as u64;
        let random = Xoshiro256PlusPlus::seed_from_u64(faults.seed ^ end);
        Self { datagrams, faults, random, held: None }
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

impl Datagrams for Wire {
    fn send(&mut self, datagram: &[u8]) -> io::Result<bool> {
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
        let taken = Datagrams::send(&mut self.datagrams, datagram)?;
        if taken && self.random.random_bool(duplicate) {
            Datagrams::send(&mut self.datagrams, datagram)?;
        }
        // Where there is no room for it now, it is lost.
        if let Some(held) = self.held.take() {
            Datagrams::send(&mut self.datagrams, &held)?;
        }
        Ok(taken)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        Datagrams::receive(&mut self.datagrams, into)
    }
}

//! A socket that loses, doubles, holds back and changes datagrams.

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};

use bandgap_socket::udp::Datagrams;

#[derive(Debug)]
pub struct Lossy {
    socket: UdpSocket,
    random: u64,
    odds: u64,
    /// Overtaken by the next.
    held: Option<Vec<u8>>,
}

impl Lossy {
    /// Does wrong with about one of `odds` datagrams sent, chosen by `seed`.
    pub fn new(socket: UdpSocket, seed: u64, odds: u64) -> Self {
        Self { socket, random: seed, odds, held: None }
    }

    /// The next number of the sequence SplitMix64, below `bound`.
    fn random(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % bound
    }
}

impl AsFd for Lossy {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Datagrams for Lossy {
    fn send(&mut self, datagram: &[u8]) -> io::Result<bool> {
        if self.random(self.odds) > 0 {
            Datagrams::send(&mut self.socket, datagram)?;
        } else {
            match self.random(4) {
                0 => {}
                1 => {
                    Datagrams::send(&mut self.socket, datagram)?;
                    Datagrams::send(&mut self.socket, datagram)?;
                }
                2 if self.held.is_none() => {
                    self.held = Some(datagram.to_vec());
                    return Ok(true);
                }
                2 => return Ok(false), // the system has no room
                _ => {
                    let mut datagram = datagram.to_vec();
                    let bit = self.random(8 * datagram.len() as u64) as usize;
                    datagram[bit / 8] ^= 1 << (bit % 8);
                    Datagrams::send(&mut self.socket, &datagram)?;
                }
            }
        }
        match self.held.take() {
            Some(held) => Datagrams::send(&mut self.socket, &held),
            None => Ok(true),
        }
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        Datagrams::receive(&mut self.socket, into)
    }
}

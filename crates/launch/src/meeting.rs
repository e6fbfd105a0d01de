//! The rendezvous of started ranks.

use std::net::IpAddr;
use std::path::Path;
use std::time::Instant;

use bandgap_comm::{Rank, Rendezvous, Result};

/// A rendezvous of ranks; `exchange` takes this rank's address and returns those of all ranks.
pub(crate) struct Meeting<'a, X> {
    pub rank: Rank,
    pub size: usize,
    pub secret: [u8; 16],
    pub until: Instant,
    pub interface: IpAddr,
    pub library: Option<&'a Path>,
    pub exchange: X,
}

impl<X: FnMut(String) -> Result<Vec<String>>> Rendezvous for Meeting<'_, X> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn secret(&self) -> [u8; 16] {
        self.secret
    }

    fn deadline(&self) -> Instant {
        self.until
    }

    fn library(&self) -> Option<&Path> {
        self.library
    }

    fn interface(&self) -> IpAddr {
        self.interface
    }

    fn exchange(&mut self, address: String) -> Result<Vec<String>> {
        (self.exchange)(address)
    }
}

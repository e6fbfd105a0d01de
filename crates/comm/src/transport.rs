//! How the ranks of a transport come to be connected.
//!
//! A transport is prepared once, where ranks are started, and connected in every rank. Ranks that
//! have nothing yet but their number meet through a [`Rendezvous`], which whoever started them
//! provides. How ranks are started is no business of a transport.
//!
//! That is all that a transport must do. One whose bare mechanism can be measured is [`crate::Bare`] too, and one
//! whose messages' time can be divided [`crate::Stamped`] or [`crate::Together`].

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use crate::passing::Tuning;
use crate::{Bulk, Rank, Result};

/// What a transport can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Can {
    /// A rank can sleep until something arrives.
    pub block: bool,
    /// Most ranks of a run.
    pub ranks: usize,
    /// How message passing cuts messages over it.
    pub tuning: Tuning,
    /// Whether it is measured where the user names no transport.
    pub compared: bool,
    /// Whether its ranks may be on several hosts.
    pub hosts: bool,
    /// Whether its ranks are processes of a launcher of its own, one each.
    pub launcher: bool,
    /// Whether a process can initialise it once only.
    pub once: bool,
    /// Whether kernels over message passing run on calls of its own.
    pub messages: bool,
    /// Whether it has collectives of its own: `--algorithm library`.
    pub collectives: bool,
    /// The option that names its library, where it is one.
    pub library: Option<&'static str>,
}

impl Can {
    /// What is usual: no blocking, up to 256 ranks of one host, nothing of its own, and measured only when it is named.
    pub const USUAL: Self = Self {
        block: false,
        ranks: 256,
        tuning: Tuning::DEFAULT,
        compared: false,
        hosts: false,
        launcher: false,
        once: false,
        messages: false,
        collectives: false,
        library: None,
    };
}

/// Where ranks exchange addresses.
pub trait Rendezvous {
    /// This rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// What only the ranks of this run know: peers that cannot show it are not let in.
    fn secret(&self) -> [u8; 16];
    /// When to stop waiting for peers.
    fn deadline(&self) -> Instant;
    /// The library that the user named, of a transport that is one.
    fn library(&self) -> Option<&Path> {
        None
    }
    /// The address of this host at which its peers reach it: that of the loopback interface where all of them are on it.
    fn interface(&self) -> IpAddr {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    }
    /// Tells all ranks this rank's address, and returns the addresses of all, by rank.
    ///
    /// # Errors
    /// Whoever started the ranks is gone.
    fn exchange(&mut self, address: String) -> Result<Vec<String>>;
}

/// A way for ranks to communicate.
pub trait Transport: 'static {
    /// A rank's end of it, over which Active Messages, stores, gets and message passing run.
    type Endpoint: Bulk;

    /// Its name on the command line and in run files.
    const NAME: &'static str;
    /// What it is, in a few words.
    const MEANING: &'static str;
    /// What it can do.
    const CAN: Can;

    /// Bytes of memory that `size` ranks map in common, beside what they expose: what [`Transport::prepare`] makes. It
    /// is asked for before, to see whether there is so much. None, unless a transport says otherwise.
    fn shared(_size: usize) -> usize {
        0
    }

    /// Prepares, before ranks are started, what each of `size` ranks inherits: the same descriptors
    /// for all, in the order in which [`Transport::connect`] gets them. Each rank is to expose
    /// `exposed` bytes. Nothing, unless a transport says otherwise.
    ///
    /// # Errors
    /// The operating system refused.
    fn prepare(_size: usize, _exposed: usize) -> Result<Vec<OwnedFd>> {
        Ok(Vec::new())
    }

    /// Connects this rank with the others.
    ///
    /// # Errors
    /// A peer did not come before the deadline, or the operating system refused.
    fn connect(
        inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut dyn Rendezvous,
    ) -> Result<Self::Endpoint>;
}

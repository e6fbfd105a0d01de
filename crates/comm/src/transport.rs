//! The interface of a transport: how its ranks are connected.
//!
//! A transport is prepared once, where ranks are started, and connected in every rank. Ranks, which
//! at first know only their number, meet through a [`Rendezvous`] that the launcher provides. A
//! transport does not know how ranks are started.
//!
//! This is all that a transport must implement. It can also implement [`crate::Bare`], so that its
//! floors are measured, and [`crate::Stamped`] or [`crate::Together`], so that the time of a
//! message is divided.

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
    /// Threads of its own work for a rank. They run on the rank's processor, so by default the rank
    /// sleeps while it waits, or yields if it cannot sleep.
    pub threads: bool,
    /// Largest number of ranks in a run.
    pub ranks: usize,
    /// How message passing cuts messages.
    pub tuning: Tuning,
    /// Whether it is measured if the user names no transport.
    pub compared: bool,
    /// Whether a get reads the peer's memory, so that the peer sends nothing.
    pub reads: bool,
    /// Whether its ranks may be on several hosts.
    pub hosts: bool,
    /// Whether each of its ranks is a process of its own launcher.
    pub launcher: bool,
    /// Whether a process can initialise it only once.
    pub once: bool,
    /// Whether kernels over message passing run on its own calls.
    pub messages: bool,
    /// Whether it has its own collectives (`--algorithm library`).
    pub collectives: bool,
    /// The option that names its library, if it is one.
    pub library: Option<&'static str>,
    /// What may be named behind a colon, if it has several ways: with an example.
    pub argument: Option<&'static str>,
}

impl Can {
    /// The defaults: no blocking, no threads, up to 256 ranks on one host, no launcher, messages or collectives
    /// of its own, and measured only if named.
    pub const USUAL: Self = Self {
        block: false,
        threads: false,
        ranks: 256,
        tuning: Tuning::DEFAULT,
        compared: false,
        reads: false,
        hosts: false,
        launcher: false,
        once: false,
        messages: false,
        collectives: false,
        library: None,
        argument: None,
    };
}

/// The place where ranks exchange addresses.
pub struct Rendezvous<'a> {
    /// This rank.
    pub rank: Rank,
    /// Number of ranks.
    pub size: usize,
    /// The run's secret. A peer that does not know it is rejected.
    pub secret: [u8; 16],
    /// When to stop waiting for peers.
    pub deadline: Instant,
    /// The library that the user named, if the transport is one.
    pub library: Option<&'a Path>,
    /// What stands behind the colon in the transport's name.
    pub argument: Option<&'a str>,
    /// Whether stamps will be taken on a message's way.
    pub stamped: bool,
    /// The address of this host at which peers reach it; the loopback address if all are on one
    /// host.
    pub interface: IpAddr,
    /// Sends this rank's address to all ranks, and returns the addresses of all, by rank. It fails
    /// if the launcher is gone.
    pub exchange: &'a mut dyn FnMut(String) -> Result<Vec<String>>,
}

impl<'a> Rendezvous<'a> {
    /// That of ranks of one host, with no secret, and no time to wait.
    pub fn new(
        [rank, size]: [Rank; 2],
        exchange: &'a mut dyn FnMut(String) -> Result<Vec<String>>,
    ) -> Self {
        let (secret, deadline, interface) = ([0; 16], Instant::now(), Ipv4Addr::LOCALHOST.into());
        let (library, argument, stamped) = (None, None, false);
        Self { rank, size, secret, deadline, library, argument, stamped, interface, exchange }
    }
}

/// A way for ranks to communicate.
pub trait Transport: 'static {
    /// A rank's endpoint, over which Active Messages, stores, gets and message passing run.
    type Endpoint: Bulk;

    /// Its name on the command line and in run files.
    const NAME: &'static str;
    /// A description in a few words.
    const MEANING: &'static str;
    /// What it can do.
    const CAN: Can;

    /// Bytes of shared memory that [`Transport::prepare`] makes for `size` ranks, besides what they
    /// expose. bandgap asks first, to see whether there is enough. 0 by default.
    fn shared(_size: usize) -> usize {
        0
    }

    /// Before ranks are started, prepares the descriptors that each of `size` ranks inherits: the
    /// same for all, in the order in which [`Transport::connect`] gets them. Each rank is to expose
    /// `exposed` bytes. None by default.
    ///
    /// # Errors
    /// The operating system refused.
    fn prepare(_size: usize, _exposed: usize) -> Result<Vec<OwnedFd>> {
        Ok(Vec::new())
    }

    /// Connects this rank with the others.
    ///
    /// # Errors
    /// A peer did not connect before the deadline, or the operating system refused.
    fn connect(
        inherited: Vec<OwnedFd>,
        exposed: usize,
        meeting: &mut Rendezvous<'_>,
    ) -> Result<Self::Endpoint>;
}

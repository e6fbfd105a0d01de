//! How the ranks of a transport come to be connected.
//!
//! A transport is prepared once, where ranks are started, and connected in every rank. Ranks that
//! have nothing yet but their number meet through a [`Rendezvous`], which whoever started them
//! provides. How ranks are started is no business of a transport.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Instant;

use crate::passing::Tuning;
use crate::{Bare, Bulk, CommError, Divided, Floor, Rank, Stamper, Timer};

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
}

/// A floor of a transport, and the results that are compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yardstick {
    /// The floor's name.
    pub floor: &'static str,
    /// `signature`, and names of series.
    pub results: &'static [&'static str],
}

/// Where ranks exchange addresses.
pub trait Rendezvous {
    /// This rank.
    fn rank(&self) -> Rank;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// What only the ranks of this run know: peers that cannot show it are not let in.
    fn secret(&self) -> [u8; 16];
    /// When to stop waiting for peers. It moves on by the time in which the whole run is halted.
    fn deadline(&self) -> Instant;
    /// Tells all ranks this rank's address, and returns the addresses of all, by rank.
    ///
    /// # Errors
    /// Whoever started the ranks is gone.
    fn exchange(&mut self, address: String) -> Result<Vec<String>, CommError>;
}

/// Does so many round trips, with computations of so many blocks, and returns the ticks of all.
pub type RoundTrips<T> = dyn Fn(u32, u32, &T) -> u64;

/// Both ends of a connection that one processor holds.
pub struct BothEnds<E, T> {
    /// Ranks 0 and 1.
    pub ends: [E; 2],
    /// Does the stores and loads of so many round trips over such lines, without any software above them: those of the
    /// requester, a stamp, those of the replier, a stamp. The computation stands before each store.
    pub lines: Box<RoundTrips<T>>,
}

/// A way for ranks to communicate.
pub trait Transport: 'static {
    /// A rank's end of it, over which Active Messages, stores, gets and message passing run.
    type Endpoint: Bulk;
    /// The same with stamps at its border with the system; [`Transport::Endpoint`] where there is no such border.
    type Stamped<T: Timer>: Bulk;

    /// Its name on the command line and in run files.
    const NAME: &'static str;
    /// What it is, in a few words.
    const MEANING: &'static str;
    /// What it can do.
    const CAN: Can;

    /// Its floors, and the layers that are measured beside them.
    const FLOORS: &'static [Floor];
    /// Which of its floors results over it are compared with, by what is measured. A floor is compared with messages of as
    /// many bytes as it moves.
    const YARDSTICKS: &'static [Yardstick] = &[];

    /// How the time of a message over it can be divided.
    const DIVIDED: Divided = Divided::Calls;

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
    fn prepare(_size: usize, _exposed: usize) -> Result<Vec<OwnedFd>, CommError> {
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
    ) -> Result<Self::Endpoint, CommError>;

    /// Connects this rank with the others once more, with stamps at the border with the system. Memory is not exposed.
    /// `None` where bytes do not go through the system, as over memory that ranks share.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    fn stamped<T: Timer>(
        _meeting: &mut dyn Rendezvous,
        _stamper: &Rc<Stamper<T>>,
    ) -> Result<Option<Self::Stamped<T>>, CommError> {
        Ok(None)
    }

    /// Both ends of a connection within this process. `None` where the time of a message is divided otherwise.
    ///
    /// # Errors
    /// The operating system refused.
    fn both_ends<T: Timer>() -> Result<Option<BothEnds<Self::Endpoint, T>>, CommError> {
        Ok(None)
    }

    /// Prepares, before ranks are started, what two ranks inherit to measure the floors. Nothing,
    /// unless a transport says otherwise. `own` is what [`Transport::prepare`] made for these ranks.
    ///
    /// # Errors
    /// The operating system refused.
    fn prepare_bare(_own: &[OwnedFd]) -> Result<Vec<OwnedFd>, CommError> {
        Ok(Vec::new())
    }

    /// Connects this rank with the other one of two by the bare mechanism.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    fn bare<T: Timer>(
        inherited: Vec<OwnedFd>,
        meeting: &mut dyn Rendezvous,
    ) -> Result<Box<dyn Bare<T>>, CommError>;
}

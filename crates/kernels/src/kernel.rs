//! The trait of a kernel.

use std::fmt;

use bandgap_comm::{Am, Comm, Rank, Result, Transfer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{AtSize, Expects, Needs, Places, Refused, Samples, Seat, Series, Shape, Stamps};

/// A program that ranks run together, with all that is known about it. The value holds its
/// parameters.
///
/// `size` is the number of ranks that take part; these are ranks 0 to `size` − 1.
pub trait Kernel: Serialize + DeserializeOwned + Clone + fmt::Debug + PartialEq + 'static {
    /// Name in orders.
    const NAME: &'static str;
    /// Its series: how it is measured over sizes, under one name or several.
    const SERIES: &'static [Series] = &[];
    /// The kernel at a point of a series; `None` if a point does not give all of its parameters. A
    /// kernel needs it if it has a series, or if it is measured as a layer together with its
    /// floors.
    fn at(_point: AtSize) -> Option<Self> {
        None
    }

    /// Whether `size` ranks can run it. Called before any rank starts, and wherever an order is
    /// decoded: the parameters may come from a peer.
    ///
    /// # Errors
    /// They cannot run it; the error says why.
    fn check(&self, size: usize) -> Result<(), Refused>;

    /// What a checked batch runs instead: fewer messages, where all of them would not have places of
    /// their own.
    #[must_use]
    fn checked(self) -> Self {
        self
    }

    /// The rank that times, and the rank at the other end of the placement probe.
    fn timed(&self, size: usize) -> [Rank; 2] {
        [0, 1.min(size.saturating_sub(1))]
    }

    /// Memory that a rank needs.
    fn needs(&self, _size: usize) -> Needs {
        Needs::default()
    }

    /// What the rank at `seat` must receive, and what its memory must hold to be sent.
    fn expects(&self, seat: &Seat) -> Expects;

    /// Operations in a sample that can be timed one by one ([`Shape::Osu`]); `None` if they cannot.
    fn operations(&self) -> Option<u32> {
        None
    }

    /// Largest number of time stamps that a rank takes in `samples` samples.
    fn marks(&self, samples: u32) -> usize {
        3 * samples as usize
    }

    /// Turns time stamps into samples.
    fn samples(&self, size: usize, stamps: &Stamps) -> Samples {
        Samples::of_triples(stamps, self.timed(size)[0])
    }
}

/// One run of a program: the number of samples, how they are timed, and the run's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Number of samples.
    pub samples: u32,
    /// What is between two stamps.
    pub shape: Shape,
    /// Number of the run, the same on all ranks. No two turns send the same words or bytes.
    pub turn: u64,
}

/// A kernel whose program uses Active Messages.
pub trait OverAm: Kernel {
    /// Runs this rank's part.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn run<A: Am>(&self, am: &mut A, round: Round) -> Result<()>;
}

/// A kernel whose program stores and gets.
pub trait OverTransfer: Kernel {
    /// Runs this rank's part.
    ///
    /// # Errors
    /// A peer is gone, a deadline passed, or the exposed memory is too short.
    fn run<A: Transfer>(&self, am: &mut A, round: Round) -> Result<()>;
}

/// A kernel whose program passes messages.
pub trait OverComm: Kernel {
    /// Runs this rank's part. Message i of a sample uses places number i.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()>;
}

/// Longest message or transfer, in bytes.
pub const MOST_BYTES: usize = 1 << 30;
/// Largest number of messages in a sample.
pub const MOST_MESSAGES: u32 = 1 << 24;

/// Checks that at least `least` ranks take part.
///
/// # Errors
/// There are fewer.
pub fn ranks_at_least(least: usize, size: usize) -> Result<(), Refused> {
    Refused::unless(size >= least, || format!("it needs at least {least} ranks; there are {size}"))
}

/// Checks the number of messages in a sample, and their length.
///
/// # Errors
/// There are none or more than [`MOST_MESSAGES`], or they are longer than [`MOST_BYTES`].
pub fn messages_in_range(messages: u32, bytes: usize) -> Result<(), Refused> {
    Refused::unless((1..=MOST_MESSAGES).contains(&messages), || {
        format!("messages in a sample must be from 1 to {MOST_MESSAGES}, not {messages}")
    })?;
    Refused::unless(bytes <= MOST_BYTES, || {
        format!("messages of {bytes} bytes are too long (limit {MOST_BYTES})")
    })
}

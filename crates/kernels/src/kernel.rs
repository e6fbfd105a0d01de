//! What a kernel is.

use std::fmt;

use bandgap_comm::{Am, Comm, Rank, Result, Transfer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{AtSize, Expects, Needs, Places, Refused, Samples, Seat, Series, Shape, Stamps};

/// A program that ranks run together, and what there is to know of it. The value holds its
/// parameters.
///
/// `size` is the number of ranks that take part: the first so many of all.
pub trait Kernel: Serialize + DeserializeOwned + Clone + fmt::Debug + PartialEq + 'static {
    /// Its name in orders.
    const NAME: &'static str;
    /// How it is measured over sizes, under one name or several.
    const SERIES: &'static [Series] = &[];
    /// So many messages of a size; `None` where these do not say all of its parameters. A kernel
    /// that has a series, or that a layer beside its floors runs, has it.
    fn at(_point: AtSize) -> Option<Self> {
        None
    }

    /// Whether `size` ranks can run it. Asked before any rank starts, and wherever an order is
    /// decoded: the parameters may come from a peer.
    ///
    /// # Errors
    /// They cannot; the error says why.
    fn check(&self, size: usize) -> Result<(), Refused>;

    /// The rank that times, and the one at the other end of the placement probe.
    fn timed(&self, size: usize) -> [Rank; 2] {
        [0, 1.min(size.saturating_sub(1))]
    }

    /// Memory that a rank needs for it.
    fn needs(&self, _size: usize) -> Needs {
        Needs::default()
    }

    /// What the rank at `seat` must receive, and what it must have in its memory to send.
    fn expects(&self, seat: &Seat) -> Expects;

    /// Operations of a sample that are timed one by one where this is asked for ([`Shape::Osu`]); `None` where they cannot be.
    fn operations(&self) -> Option<u32> {
        None
    }

    /// Time stamps that a rank takes in `samples` samples, at most.
    fn marks(&self, samples: u32) -> usize {
        3 * samples as usize
    }

    /// From time stamps to samples.
    fn samples(&self, size: usize, stamps: &Stamps) -> Samples {
        Samples::of_triples(stamps, self.timed(size)[0])
    }
}

/// How often a program runs, and in which turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Samples.
    pub samples: u32,
    /// What lies between two stamps.
    pub shape: Shape,
    /// Counted alike on all ranks; no two turns send the same words or bytes.
    pub turn: u64,
}

/// A kernel whose program needs Active Messages.
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
    /// Runs this rank's part. Message i of a sample lies in the places of number i.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()>;
}

/// Longest message and transfer, in bytes.
pub const MOST_BYTES: usize = 1 << 30;
/// Most messages of a sample.
pub const MOST_MESSAGES: u32 = 1 << 24;

/// Checks that at least `least` ranks take part.
///
/// # Errors
/// There are fewer.
pub fn ranks_at_least(least: usize, size: usize) -> Result<(), Refused> {
    Refused::unless(size >= least, || format!("it takes {least} ranks or more, not {size}"))
}

/// Checks the number of messages of a sample, and their length.
///
/// # Errors
/// It is more than [`MOST_MESSAGES`] or none, or they are longer than [`MOST_BYTES`].
pub fn messages_in_range(messages: u32, bytes: usize) -> Result<(), Refused> {
    Refused::unless((1..=MOST_MESSAGES).contains(&messages), || {
        format!("{messages} messages a sample: from 1 to {MOST_MESSAGES} are possible")
    })?;
    Refused::unless(bytes <= MOST_BYTES, || {
        format!("messages of {bytes} bytes: at most {MOST_BYTES} bytes are possible")
    })
}

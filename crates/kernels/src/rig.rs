//! What carries out orders for real.

use bandgap_comm::passing::Way;
use bandgap_comm::{BARRIER, Processor, Rank, Result, Stamp};

use crate::{Log, Needs, Tally, Wrong};

/// A rank with memory, a clock and counts: what an order needs beside what its program may do.
/// [`crate::Executor`] is one.
pub trait Rig: Processor {
    /// Number of all ranks of the run, of which [`Processor::size`] may be a part.
    fn whole(&self) -> usize;
    /// An order begins, in which the first `ranks` ranks take part: from here on
    /// [`Processor::size`] is that. Returns the order's number, which no other order of the run has.
    /// Called on every rank for every order.
    fn begin(&mut self, ranks: usize) -> u64;
    /// Gives the rank what `needs` asks for beside the memory of messages, and room for so many marks.
    fn prepare(&mut self, needs: &Needs, marks: usize);
    /// From here on messages come from and go to so many bytes of memory.
    fn resize(&mut self, bytes: usize);
    /// From here on long messages go this way, if they can. Returns the way that they go, and why it is another where
    /// the machine refuses what the transport has. Called on every rank for every order.
    fn go(&mut self, _way: Way) -> (Way, Option<String>) {
        Default::default()
    }
    /// A turn of the program begins. Stores and gets are between this rank and `partner`.
    fn turn(&mut self, _turn: u64, _partner: Rank) {}
    /// The memory that messages come from and go to.
    fn memory(&mut self) -> &mut [u8];
    /// The marks taken since [`Rig::prepare`].
    fn marks(&self) -> &[Stamp];
    /// What has arrived since [`Rig::forget`], or since the rank began.
    fn arrived(&self) -> Arrived;
    /// From here on, notes up to `most` words of each kind; with 0, none.
    fn note_words(&mut self, _most: usize) {}
    /// The words that were noted; `None` where there are no Active Messages.
    fn log(&self) -> Option<&Log> {
        None
    }
    /// Waits until all ranks that take part have come here. Not timed.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn meet(&mut self) -> Result<()>;
    /// Sends what this rank owes to others, and takes what has arrived, so that it may do something
    /// else for a while.
    ///
    /// # Errors
    /// As [`Rig::meet`].
    fn settle(&mut self) -> Result<()>;
    /// The batch is over: what arrived in it counts no further.
    fn forget(&mut self) {}
    /// What this rank found wrong by itself since it was last asked.
    fn noticed(&mut self) -> Option<Wrong> {
        None
    }
}

/// What has arrived at a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Requests and replies.
    pub tally: Tally,
    /// Messages received, of message passing.
    pub messages: u64,
    /// Messages that are here and that no receive has taken.
    pub unclaimed: u64,
    /// Blocks that stores and gets brought.
    pub blocks: u64,
    /// Those of them that were compared.
    pub blocks_compared: u64,
}

/// Whether a rig counts a message ([`Arrived::messages`]): not those by which ranks tell each other
/// that they have come to a barrier, which some rigs do without messages.
#[inline(always)]
pub fn is_counted(tag: u32) -> bool {
    tag < BARRIER
}

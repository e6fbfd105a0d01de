//! Rigs, which carry out orders.

use bandgap_comm::passing::Way;
use bandgap_comm::{BARRIER, Processor, Rank, Result, Stamp};

use crate::{Log, Needs, Tally, Wrong};

/// A rank with memory, a clock and counters: what an order needs in addition to what its program
/// may do. [`crate::Executor`] is one.
pub trait Rig: Processor {
    /// Number of all ranks of the run; [`Processor::size`] may be smaller.
    fn whole(&self) -> usize;
    /// Begins an order in which the first `ranks` ranks take part; from now on [`Processor::size`]
    /// is `ranks`. Returns a number that is unique to the order in this run. Called on every rank
    /// for every order.
    fn begin(&mut self, ranks: usize) -> u64;
    /// Provides what `needs` asks for, apart from the memory of messages, and room for `marks`
    /// marks.
    fn prepare(&mut self, needs: &Needs, marks: usize);
    /// Sets the memory that messages come from and go to to `bytes` bytes.
    fn resize(&mut self, bytes: usize);
    /// Sets the way that long messages travel, if this rig can. Returns the way that is used, and
    /// why it is another one if the transport supports it but the machine refuses. Called on every
    /// rank for every order.
    fn go(&mut self, _way: Way) -> (Way, Option<String>) {
        Default::default()
    }
    /// Begins a turn of the program. Stores and gets are between this rank and `partner`.
    fn turn(&mut self, _turn: u64, _partner: Rank) {}
    /// The memory that messages come from and go to.
    fn memory(&mut self) -> &mut [u8];
    /// Marks taken since [`Rig::prepare`].
    fn marks(&self) -> &[Stamp];
    /// What has arrived since [`Rig::forget`], or since the rank began.
    fn arrived(&self) -> Arrived;
    /// Notes up to `most` words of each kind from now on; with 0, none.
    fn note_words(&mut self, _most: usize) {}
    /// Words that were noted; `None` without Active Messages.
    fn log(&self) -> Option<&Log> {
        None
    }
    /// Waits until all participating ranks have reached this point. Not timed.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn meet(&mut self) -> Result<()>;
    /// Sends what this rank still has to send, and takes what has arrived, so that it may then do
    /// something else for a while.
    ///
    /// # Errors
    /// As [`Rig::meet`].
    fn settle(&mut self) -> Result<()>;
    /// Ends the batch: what arrived in it is no longer counted.
    fn forget(&mut self) {}
    /// The first error that this rank noticed by itself since the last call.
    fn noticed(&mut self) -> Option<Wrong> {
        None
    }
}

/// What has arrived at a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Requests and replies.
    pub tally: Tally,
    /// Messages that message passing received.
    pub messages: u64,
    /// Messages that arrived and that no receive has taken.
    pub unclaimed: u64,
    /// Blocks that stores and gets brought.
    pub blocks: u64,
    /// Blocks that were compared.
    pub blocks_compared: u64,
}

/// Whether a rig counts a message ([`Arrived::messages`]). Barrier messages do not count, since
/// some rigs have barriers without messages.
#[inline(always)]
pub fn is_counted(tag: u32) -> bool {
    tag < BARRIER
}

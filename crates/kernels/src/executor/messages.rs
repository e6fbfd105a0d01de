//! Message passing, as programs use it, on a transport.

use bandgap_comm::passing::MessageId;
use bandgap_comm::{Bulk, Comm, Part, Pending, Rank, Result, Timer, Watch};

use super::Executor;
use crate::is_counted;

impl<E: Bulk, T: Timer, W: Watch> Comm for Executor<E, T, W> {
    type Pending = MessageId;

    #[inline(always)]
    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<MessageId>> {
        self.passing.isend(peer, tag, from)
    }

    #[inline(always)]
    fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<Pending<MessageId>> {
        // Counted already here: if it is never waited for, its place stays poisoned or the batch
        // fails.
        self.received += u64::from(is_counted(tag));
        self.passing.irecv(peer, tag, into)
    }

    #[inline(always)]
    fn wait(&mut self, pending: Pending<MessageId>) -> Result<()> {
        self.passing.wait(pending)
    }

    #[inline(always)]
    fn own(&mut self) -> Option<&mut [u8]> {
        Some(self.passing.memory_mut())
    }

    #[inline(always)]
    fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<()> {
        self.passing.send(peer, tag, from)
    }

    #[inline(always)]
    fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<()> {
        self.passing.recv(peer, tag, into)?;
        self.received += u64::from(is_counted(tag));
        Ok(())
    }

    #[inline(always)]
    fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<()> {
        self.passing.exchange(peer, tag, from, into)?;
        self.received += u64::from(is_counted(tag));
        Ok(())
    }

    #[inline(always)]
    fn barrier(&mut self) -> Result<()> {
        self.passing.barrier(self.ranks)
    }
}

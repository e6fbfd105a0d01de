//! Messages of bytes at one rank.

use bandgap_comm::Rank;

use super::Processor;
use crate::SimError;
use crate::engine::event::{Queue, What};
use crate::engine::mail::{Address, Letter};
use crate::machine::Picoseconds;

impl Processor<'_> {
    /// A message of bytes reaches the interface, which takes in one byte per G. Returns whether the
    /// processor was waiting for it.
    #[inline]
    pub(in crate::engine) fn deliver(
        &mut self,
        time: u64,
        address: Address,
        bytes: u32,
        machine: &Picoseconds<'_>,
    ) -> bool {
        let transfer = machine.message(bytes).transfer;
        let start = self.interface.accept(time, transfer.max(machine.gap));
        self.mail.put(address, Letter { ready: start.saturating_add(transfer), bytes });
        self.awaited.take_if(|awaited| *awaited == address).is_some()
    }

    /// Sends a message of bytes: os, then the interface as soon as it may, and not past the message
    /// before it to the same rank.
    #[inline]
    pub(super) fn send_bytes(
        &mut self,
        to: u32,
        address: Address,
        bytes: u32,
        queue: &mut Queue,
        machine: &Picoseconds<'_>,
    ) {
        let costs = machine.message(bytes);
        self.now = self.now.saturating_add(costs.send_overhead);
        let start = self.interface.leave(self.now, costs.transfer.max(machine.gap));
        self.sent += 1;
        let slot = self.slot(to);
        let reached = &mut self.peers[slot].reached;
        *reached = start.saturating_add(costs.latency).max(*reached);
        queue.push(*reached, to, What::Deliver { address, bytes });
    }

    /// Receives a message of bytes: or, once it is whole.
    #[inline]
    pub(super) fn receive(
        &mut self,
        address: Address,
        letter: Letter,
        expected: u32,
        machine: &Picoseconds<'_>,
    ) -> Result<(), SimError> {
        let Letter { ready, bytes } = letter;
        if bytes != expected {
            let (rank, from) = (self.rank as Rank, address.from as Rank);
            return Err(SimError::OtherLength { rank, from, tag: address.tag, expected, bytes });
        }
        let recv_overhead = machine.message(bytes).recv_overhead;
        self.now = self.now.max(ready).saturating_add(recv_overhead);
        Ok(())
    }
}

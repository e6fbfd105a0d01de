//! Messages of bytes at one rank.

use bandgap_comm::Rank;

use super::Processor;
use super::departures::Behind;
use crate::engine::event::{Queue, What};
use crate::engine::mail::{Address, Letter};
use crate::{Machine, SimError};

impl Processor<'_> {
    /// A message of bytes reaches the interface. Returns whether the processor was waiting for it.
    #[inline]
    pub(in crate::engine) fn deliver(
        &mut self,
        time: u64,
        address: Address,
        bytes: u32,
        machine: &Machine,
    ) -> bool {
        let ready = self.accept(time, Some(bytes), machine);
        self.mail.put(address, Letter { ready, bytes });
        self.awaited.take_if(|awaited| *awaited == address).is_some()
    }

    /// Sends a message of bytes, which does not overtake the one before it to the same rank.
    #[inline]
    pub(super) fn send_bytes(
        &mut self,
        to: u32,
        address: Address,
        bytes: u32,
        queue: &mut Queue,
        machine: &Machine,
    ) {
        let behind = Behind::Messages(self.slot(to));
        self.leave(to, behind, What::Deliver { address, bytes }, queue, machine);
    }

    /// Receives a message of bytes: or, once it is whole.
    #[inline]
    pub(super) fn receive(
        &mut self,
        address: Address,
        letter: Letter,
        expected: u32,
        machine: &Machine,
    ) -> Result<(), SimError> {
        let Letter { ready, bytes } = letter;
        if bytes != expected {
            let (rank, from) = (self.rank as Rank, address.from as Rank);
            return Err(SimError::OtherLength { rank, from, tag: address.tag, expected, bytes });
        }
        self.take(ready, Some(bytes), machine);
        Ok(())
    }
}

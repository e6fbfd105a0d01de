//! A receiver that reads a message in registered memory wrongly.

use std::cell::Cell;

use super::spoilt::{Fault, Plan, third};
use bandgap_comm::{
    Begun, Bulk, CommError, Deliver, Endpoint, Message, Posted, Rank, Source, Word,
};

/// An endpoint of which one read out of registered memory is spoilt.
pub struct Misreading<E> {
    inner: E,
    plan: Option<Plan>,
    seen: Cell<usize>,
    /// Where the read before began.
    last: Cell<Option<(Rank, Word)>>,
}

impl<E> Misreading<E> {
    /// What can become of a read.
    pub const FAULTS: [Fault; 4] = [Fault::Misdeliver, Fault::Repeat, Fault::Lose, Fault::Flip];

    pub fn new(inner: E, plan: Option<Plan>) -> Self {
        Self { inner, plan, seen: Cell::new(0), last: Cell::new(None) }
    }
}

impl<E: Bulk> Misreading<E> {
    /// What a read brings in place of the right bytes.
    fn spoil(
        &self,
        plan: &Plan,
        (peer, at): (Rank, Word),
        before: &[u8],
        into: &mut [u8],
    ) -> Result<(), CommError> {
        match plan.fault {
            Fault::Lose => into.copy_from_slice(before),
            Fault::Flip => into[before.len() / 2] ^= 0x04,
            Fault::Misdeliver => {
                let other = third(self.rank(), peer, self.size()).unwrap_or(peer);
                self.inner.read_registered(other, at, into)?;
            }
            Fault::Repeat | Fault::Swap => {
                let (peer, at) = self.last.get().unwrap_or((peer, at));
                self.inner.read_registered(peer, at, into)?;
            }
        }
        Ok(())
    }
}

impl<E: Bulk> Endpoint for Misreading<E> {
    bandgap_comm::delegate_endpoint! { inner }

    fn try_request(&mut self, peer: Rank, message: Message) -> Result<Posted, CommError> {
        self.inner.try_request(peer, message)
    }
    fn progress<D: Deliver>(&mut self, deliver: &mut D) -> Result<usize, CommError> {
        self.inner.progress(deliver)
    }
}

impl<E: Bulk> Bulk for Misreading<E> {
    bandgap_comm::delegate_exposed! { inner }

    fn try_store(
        &mut self,
        peer: Rank,
        into: usize,
        from: Source<'_>,
        done: &mut usize,
    ) -> Result<Posted, CommError> {
        self.inner.try_store(peer, into, from, done)
    }
    fn try_get(
        &mut self,
        peer: Rank,
        at: usize,
        into: usize,
        len: usize,
        message: Message,
    ) -> Result<Begun, CommError> {
        self.inner.try_get(peer, at, into, len, message)
    }
    fn registered(&self) -> Result<(), &str> {
        self.inner.registered()
    }
    fn take_registered(&mut self) -> Option<&'static mut [u8]> {
        self.inner.take_registered()
    }
    fn registered_at(&self, bytes: &[u8]) -> Option<Word> {
        self.inner.registered_at(bytes)
    }
    fn read_registered(&self, peer: Rank, at: Word, into: &mut [u8]) -> Result<(), CommError> {
        let before = into.to_vec();
        self.inner.read_registered(peer, at, into)?;
        let now = self.seen.replace(self.seen.get() + 1);
        if let Some(plan) = self.plan.as_ref().filter(|plan| plan.nth == now) {
            let right = into.to_vec();
            self.spoil(plan, (peer, at), &before, into)?;
            // What is alike is not wrong.
            plan.happened.store(right != into, std::sync::atomic::Ordering::Relaxed);
        }
        self.last.set(Some((peer, at)));
        Ok(())
    }
}

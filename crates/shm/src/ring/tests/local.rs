//! A ring in the memory of one process.

use std::sync::Arc;

use super::{Cells, Counter};
use crate::slot::{STEP, Sequence, Slot};

/// A ring in the memory of one process, for the model checker and for tests.
pub struct LocalCells {
    pub(super) slots: Box<[Slot]>,
    pub(super) handled: Counter,
}

impl LocalCells {
    /// A ring of `slots` slots whose first `position` requests got replies.
    ///
    /// # Panics
    /// `slots` is not a power of two.
    pub fn new(slots: u64, position: u64) -> Arc<Self> {
        let last_sequence = |slot: u64| {
            // The last request before `position` in this slot, if there was one.
            let back = position.wrapping_sub(slot) % slots + 1;
            let last = position.checked_sub(back);
            last.map_or(Sequence::NONE, |last| Sequence::request(last).replied())
        };
        Self::after(position, (0..slots).map(last_sequence))
    }

    /// A ring of `slots` slots whose first `position` requests were all carried in the other
    /// direction's ring: nothing was ever written to its slots.
    ///
    /// # Panics
    /// `slots` is not a power of two.
    pub fn unwritten(slots: u64, position: u64) -> Arc<Self> {
        Self::after(position, (0..slots).map(|_| Sequence::NONE))
    }

    /// The ring before request `position`, with what each slot was last written with.
    fn after(position: u64, last: impl Iterator<Item = Sequence>) -> Arc<Self> {
        let slots: Box<[Slot]> = last.map(Slot::new).collect();
        assert!(slots.len().is_power_of_two(), "the number of slots is a power of two");
        Arc::new(Self { slots, handled: Counter::new(Sequence::request(position)) })
    }
}

impl Cells for Arc<LocalCells> {
    fn slots(&self) -> u64 {
        self.slots.len() as u64
    }

    fn slot(&self, sequence: Sequence) -> &Slot {
        &self.slots[(sequence.whole() / STEP) as usize % self.slots.len()]
    }

    fn handled(&self) -> &Counter {
        &self.handled
    }
}

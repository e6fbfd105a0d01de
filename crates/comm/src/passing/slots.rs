//! The slots of a pair of ranks, and which of them this rank has.

use std::collections::VecDeque;

use crate::Word;

/// In place of a slot's number: the request carries the bytes.
pub(super) const CARRIED: u16 = u16::MAX;
/// Slots that fit into one word.
pub(super) const NAMED: usize = 4;
const BITS: usize = 16;

/// The slots between this rank and one peer. Each of the two begins with `half` of them. One rank
/// has a slot at a time: it passes to the receiver with the bytes in it.
///
/// If slots migrate, the receiver keeps those that it has emptied, and fills the one it emptied
/// last first. So a slot's cache lines travel with messages in both directions. If every slot went
/// back to its sender, its lines would travel back empty. A rank that has many more than its half
/// gives slots back: those that it has not used for the longest time.
///
/// If slots do not migrate, each is given back to the rank that began with it.
#[derive(Debug)]
pub(super) struct Slots {
    migrate: bool,
    /// Largest number of empty slots that this rank keeps if slots migrate.
    most: usize,
    /// Slots that are given back together: a quarter of `half`, at most as many as fit into a word,
    /// and at least two if that leaves the sender two. So a sender rarely lacks a slot, receivers
    /// send few requests to give slots back, and a rank that answers gives slots back with its
    /// answer.
    batch: usize,
    /// Empty slots that this rank has. The one used last is at the end.
    free: Vec<u16>,
    /// Slots that this rank has and must give back.
    owed: VecDeque<u16>,
    /// By slot: whether this rank has it.
    here: Box<[bool]>,
    /// The slot that was filled last. If slots migrate, the peer's next message is likely to arrive
    /// in it.
    pub(super) given: u16,
}

impl Slots {
    /// The slots of a pair, 2·`half` of them. This rank begins with the first half if `first`,
    /// otherwise with the second.
    pub(super) fn new(half: u16, first: bool) -> Self {
        let own = if first { 0..half } else { half..2 * half };
        let here = (0..2 * half).map(|slot| own.contains(&slot)).collect();
        let mut free = Vec::with_capacity(2 * usize::from(half));
        free.extend(own.rev());
        let half = usize::from(half);
        Self {
            migrate: false,
            most: half + half / 2,
            batch: (half / 4).clamp((half / 2).clamp(1, 2), NAMED),
            free,
            owed: VecDeque::new(),
            here,
            given: 0,
        }
    }

    /// Sets whether slots migrate. Both ranks must agree, before the first message.
    pub(super) fn migrate(&mut self, migrate: bool) {
        self.migrate = migrate;
    }

    /// Whether a slot can be filled.
    #[inline]
    pub(super) fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// Whether there are none, since requests carry pieces.
    pub(super) fn are_none(&self) -> bool {
        self.here.is_empty()
    }

    /// As [`Slots::take`], or [`CARRIED`] if no piece needs a slot.
    pub(super) fn for_piece(&mut self) -> Option<u16> {
        if self.are_none() { Some(CARRIED) } else { self.take() }
    }

    /// Takes an empty slot, to be filled; the peer has it then.
    #[inline]
    pub(super) fn take(&mut self) -> Option<u16> {
        let slot = self.free.pop()?;
        self.here[usize::from(slot)] = false;
        self.given = slot;
        Some(slot)
    }

    /// Takes over a slot that the peer has filled. `None` if the peer did not have it.
    #[inline]
    pub(super) fn fill(&mut self, slot: Word) -> Option<u16> {
        let here = usize::try_from(slot).ok().and_then(|slot| self.here.get_mut(slot))?;
        (!std::mem::replace(here, true)).then_some(slot as u16)
    }

    /// Notes that a filled slot was copied out.
    #[inline]
    pub(super) fn empty(&mut self, slot: u16) {
        if !self.migrate {
            self.owed.push_back(slot);
            return;
        }
        self.free.push(slot);
        if self.free.len() > self.most {
            self.owe_oldest();
        }
    }

    #[inline(never)]
    fn owe_oldest(&mut self) {
        self.owed.extend(self.free.drain(..self.batch));
    }

    /// Whether enough slots are owed for a request of their own.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.owed.len() >= self.batch
    }

    /// Gives back owed slots, as many as fit into a word: their numbers plus 1, in 16 bits each.
    #[inline]
    pub(super) fn give_back(&mut self) -> Word {
        if self.owed.is_empty() { 0 } else { self.give_owed() }
    }

    #[inline(never)]
    fn give_owed(&mut self) -> Word {
        let mut named = 0;
        for place in 0..NAMED {
            let Some(slot) = self.owed.pop_front() else { break };
            self.here[usize::from(slot)] = false;
            named |= (Word::from(slot) + 1) << (BITS * place);
        }
        named
    }

    /// Takes slots that the peer gives back.
    ///
    /// # Errors
    /// The peer did not have one of them; the error is its number.
    #[inline]
    pub(super) fn take_back(&mut self, mut named: Word) -> Result<(), Word> {
        while named != 0 {
            if let Some(slot) = (named & 0xFFFF).checked_sub(1) {
                let slot = self.fill(slot).ok_or(slot)?;
                self.free.insert(0, slot);
            }
            named >>= BITS;
        }
        Ok(())
    }

    /// Number of filled slots that were not copied out.
    pub(super) fn filled(&self) -> usize {
        self.here.iter().filter(|here| **here).count() - self.free.len() - self.owed.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(half: u16, migrate: bool) -> [Slots; 2] {
        [true, false].map(|first| {
            let mut slots = Slots::new(half, first);
            slots.migrate(migrate);
            slots
        })
    }

    /// Sends one message of `slots` slots. Returns the slots that its receiver gives back.
    fn send(from: &mut Slots, to: &mut Slots, slots: usize) -> Vec<u16> {
        (0..slots)
            .map(|_| {
                let slot = from.take().unwrap();
                assert_eq!(to.fill(slot.into()), Some(slot));
                assert_eq!(to.filled(), 1);
                to.empty(slot);
                if to.is_due() {
                    from.take_back(to.give_back()).unwrap();
                }
                slot
            })
            .collect()
    }

    #[test]
    fn messages_to_and_fro_use_the_same_slots_where_these_migrate() {
        let [mut a, mut b] = pair(8, true);
        let there = send(&mut a, &mut b, 3);
        for _ in 0..5 {
            let mut back = send(&mut b, &mut a, 3);
            back.sort_unstable();
            assert_eq!(back, there);
            let mut again = send(&mut a, &mut b, 3);
            again.sort_unstable();
            assert_eq!(again, there);
        }
        // Otherwise each has its own, one after the other.
        let [mut a, mut b] = pair(8, false);
        assert_eq!(send(&mut a, &mut b, 10), [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]);
        assert_eq!(send(&mut b, &mut a, 3), [8, 9, 10]);
    }

    #[test]
    fn a_stream_one_way_never_runs_dry_and_no_slot_is_lost() {
        for half in [1, 2, 3, 8, 32] {
            for migrate in [false, true] {
                let [mut a, mut b] = pair(half, migrate);
                send(&mut a, &mut b, 1000);
                send(&mut b, &mut a, 1000);
                let with = |slots: &Slots| slots.here.iter().filter(|here| **here).count();
                assert_eq!(with(&a) + with(&b), 2 * usize::from(half), "{half} {migrate}");
                assert!((0..2 * usize::from(half)).all(|slot| a.here[slot] != b.here[slot]));
            }
        }
    }

    #[test]
    fn what_is_owed_for_one_message_can_go_with_the_answer() {
        for half in [4, 5, 8, 32] {
            let [mut a, mut b] = pair(half, false);
            for _ in 0..100 {
                let slot = a.take().unwrap();
                b.take_back(a.give_back()).unwrap();
                assert_eq!(b.fill(slot.into()), Some(slot));
                b.empty(slot);
                assert!(!b.is_due(), "{half}");
                std::mem::swap(&mut a, &mut b);
            }
        }
    }

    #[test]
    fn slots_that_the_peer_does_not_have_are_refused() {
        let [mut a, mut b] = pair(4, true);
        // It has 0 to 3 itself, and there are 8.
        assert_eq!([0, 3, 8, Word::MAX].map(|slot| a.fill(slot)), [None; 4]);
        assert_eq!(a.take_back(1), Err(0));
        assert_eq!(a.take_back(7 | 9 << 16), Err(8));
        let slot = b.take().unwrap();
        assert_eq!(a.fill(slot.into()), Some(slot));
        assert_eq!(a.fill(slot.into()), None);
    }
}

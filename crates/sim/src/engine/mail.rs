//! Messages of bytes that have arrived and that no receive has taken.

use std::collections::HashMap;

use crate::Context;

/// Which messages a receive is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub to: u32,
    pub from: u32,
    pub context: Context,
    pub tag: u32,
}

/// A message at its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    /// When its last byte is there.
    pub ready: u64,
    pub bytes: u32,
}

/// Letters that one rank has in its list; further ones are found by their address.
const LISTED: usize = 32;

/// No letter.
const NONE: u32 = u32::MAX;

/// The first letter of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inbox(u32);

impl Default for Inbox {
    fn default() -> Self {
        Self(NONE)
    }
}

#[derive(Clone, Copy, Debug)]
struct Stored {
    address: Address,
    letter: Letter,
    next: u32,
}

/// The letters of all ranks. Each has a list, by arrival. Few wait anywhere, as a rule.
#[derive(Debug, Default)]
pub(super) struct Mail {
    letters: Vec<Stored>,
    /// Places that are free.
    free: Vec<u32>,
    /// First and last of those that are in no rank's list. All of one address are younger than those
    /// in the list.
    further: HashMap<Address, [u32; 2]>,
}

impl Mail {
    #[inline]
    pub(super) fn put(&mut self, inbox: &mut Inbox, address: Address, letter: Letter) {
        let stored = Stored { address, letter, next: NONE };
        let new = match self.free.pop() {
            Some(free) => {
                self.letters[free as usize] = stored;
                free
            }
            None => {
                self.letters.push(stored);
                u32::try_from(self.letters.len() - 1).expect("fewer than 2³² letters")
            }
        };
        if !self.further.is_empty() && self.further.contains_key(&address) {
            return self.put_further(address, new);
        }
        if inbox.0 == NONE {
            inbox.0 = new;
            return;
        }
        let (mut last, mut length) = (inbox.0, 1);
        while self.letters[last as usize].next != NONE {
            last = self.letters[last as usize].next;
            length += 1;
        }
        match length {
            LISTED => self.put_further(address, new),
            _ => self.letters[last as usize].next = new,
        }
    }

    #[cold]
    fn put_further(&mut self, address: Address, new: u32) {
        let [_, last] = self.further.entry(address).or_insert([new; 2]);
        if *last != new {
            self.letters[*last as usize].next = new;
            *last = new;
        }
    }

    /// The first message that arrived for `address`.
    #[inline]
    pub(super) fn take(&mut self, inbox: &mut Inbox, address: Address) -> Option<Letter> {
        let mut before = NONE;
        let mut at = inbox.0;
        while at != NONE {
            let Stored { address: other, letter, next } = self.letters[at as usize];
            if other == address {
                match before {
                    NONE => inbox.0 = next,
                    before => self.letters[before as usize].next = next,
                }
                self.free.push(at);
                return Some(letter);
            }
            (before, at) = (at, next);
        }
        if self.further.is_empty() { None } else { self.take_further(address) }
    }

    #[cold]
    fn take_further(&mut self, address: Address) -> Option<Letter> {
        let [first, last] = self.further.get_mut(&address)?;
        let (at, is_last) = (*first, first == last);
        let Stored { letter, next, .. } = self.letters[at as usize];
        *first = next;
        if is_last {
            self.further.remove(&address);
        }
        self.free.push(at);
        Some(letter)
    }

    pub(super) fn len(&self) -> usize {
        self.letters.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As many letters as fit in the list, and many more.
        #[test]
        fn each_address_has_its_own_order(
            steps in proptest::collection::vec((any::<bool>(), 0_u32..2, 0_u32..3, 0_u32..3), 0..400),
            puts in 0_usize..100
        ) {
            let (mut mail, mut inboxes) = (Mail::default(), [Inbox::default(); 2]);
            let mut expected: BTreeMap<_, VecDeque<u32>> = BTreeMap::new();
            for (index, (puts_one, to, from, tag)) in steps.into_iter().enumerate() {
                let context = if tag == 2 { Context::Barrier } else { Context::Messages };
                let address = Address { to, from, context, tag };
                let (inbox, bytes) = (&mut inboxes[to as usize], index as u32);
                let queue = expected.entry((to, from, tag)).or_default();
                if puts_one || index < puts {
                    mail.put(inbox, address, Letter { ready: 0, bytes });
                    queue.push_back(bytes);
                } else {
                    let taken = mail.take(inbox, address).map(|letter| letter.bytes);
                    prop_assert_eq!(taken, queue.pop_front());
                }
            }
            prop_assert_eq!(mail.len(), expected.values().map(VecDeque::len).sum::<usize>());
        }
    }
}

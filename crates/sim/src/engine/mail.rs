//! Messages with bytes that have arrived and that no receive has taken.

use std::collections::HashMap;

use crate::Context;

/// What a receive must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub from: u32,
    pub context: Context,
    pub tag: u32,
}

/// A message at its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter<T> {
    /// Time at which the last byte has arrived.
    pub ready: T,
    pub bytes: u32,
}

/// Largest number of letters that a rank keeps in a list. If there are more, they are found by
/// address.
const LISTED: usize = 16;

/// Stands for no letter.
const NONE: u32 = u32::MAX;

/// The letters of one rank.
#[derive(Debug)]
pub(super) enum Inbox<T> {
    /// List of few letters: index of the first to arrive.
    Few(u32),
    Many(Box<Many<T>>),
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Self::Few(NONE)
    }
}

/// Many letters of one rank, by address.
#[derive(Debug)]
pub(super) struct Many<T> {
    /// Letters that arrived since the rank last looked for one, in order of arrival.
    new: Vec<(Address, Letter<T>)>,
    /// First and last letter of each address, in order of arrival.
    sorted: HashMap<Address, [u32; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Stored<T> {
    address: Address,
    letter: Letter<T>,
    next: u32,
}

/// Letters of all ranks. Usually few are waiting.
#[derive(Debug, Default)]
pub(super) struct Mail<T> {
    letters: Vec<Stored<T>>,
    /// Free places.
    free: Vec<u32>,
    /// Number of letters that were not taken.
    pub(super) waiting: usize,
}

impl<T: Copy> Mail<T> {
    pub(super) fn put(&mut self, inbox: &mut Inbox<T>, address: Address, letter: Letter<T>) {
        self.waiting += 1;
        let first = match inbox {
            Inbox::Few(NONE) => return *inbox = Inbox::Few(self.store(address, letter)),
            Inbox::Few(first) => *first,
            Inbox::Many(many) => return many.new.push((address, letter)),
        };
        let (mut last, mut length) = (first, 1);
        while self.letters[last as usize].next != NONE {
            last = self.letters[last as usize].next;
            length += 1;
        }
        self.letters[last as usize].next = self.store(address, letter);
        if length == LISTED {
            *inbox = self.as_many(first);
        }
    }

    fn store(&mut self, address: Address, letter: Letter<T>) -> u32 {
        let stored = Stored { address, letter, next: NONE };
        if let Some(free) = self.free.pop() {
            self.letters[free as usize] = stored;
            return free;
        }
        self.letters.push(stored);
        u32::try_from(self.letters.len() - 1).expect("fewer than 2³² letters")
    }

    /// Converts the list that begins at `at`.
    #[cold]
    fn as_many(&mut self, mut at: u32) -> Inbox<T> {
        let mut many = Box::new(Many { new: Vec::new(), sorted: HashMap::new() });
        while at != NONE {
            let Stored { address, letter, next } = self.letters[at as usize];
            many.new.push((address, letter));
            self.free.push(at);
            at = next;
        }
        Inbox::Many(many)
    }

    /// Takes the first letter that arrived for `address`.
    #[inline(always)]
    pub(super) fn take(&mut self, inbox: &mut Inbox<T>, address: Address) -> Option<Letter<T>> {
        match inbox {
            Inbox::Few(NONE) => None,
            Inbox::Few(first) => self.take_of_few(first, address),
            Inbox::Many(_) => self.take_of_many(inbox, address),
        }
    }

    #[inline(never)]
    fn take_of_few(&mut self, first: &mut u32, address: Address) -> Option<Letter<T>> {
        let (mut before, mut at) = (NONE, *first);
        while at != NONE {
            let Stored { address: other, letter, next } = self.letters[at as usize];
            if other == address {
                match before {
                    NONE => *first = next,
                    before => self.letters[before as usize].next = next,
                }
                return Some(self.taken(at, letter));
            }
            (before, at) = (at, next);
        }
        None
    }

    fn taken(&mut self, at: u32, letter: Letter<T>) -> Letter<T> {
        self.waiting -= 1;
        self.free.push(at);
        letter
    }

    fn take_of_many(&mut self, inbox: &mut Inbox<T>, address: Address) -> Option<Letter<T>> {
        let Inbox::Many(many) = inbox else { return None };
        many.sorted.reserve(many.new.len());
        for (address, letter) in many.new.drain(..) {
            let new = self.store(address, letter);
            let [_, last] = many.sorted.entry(address).or_insert([new; 2]);
            if *last != new {
                self.letters[*last as usize].next = new;
                *last = new;
            }
        }
        let [first, _] = many.sorted.get_mut(&address)?;
        let at = *first;
        let Stored { letter, next, .. } = self.letters[at as usize];
        *first = next;
        if next == NONE {
            many.sorted.remove(&address);
        }
        if many.sorted.is_empty() {
            *inbox = Inbox::default();
        }
        Some(self.taken(at, letter))
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
            let (mut mail, mut inboxes) = (Mail::default(), <[Inbox<u64>; 2]>::default());
            let mut expected: BTreeMap<_, VecDeque<u32>> = BTreeMap::new();
            for (index, (puts_one, to, from, tag)) in steps.into_iter().enumerate() {
                let context = if tag == 2 { Context::Barrier } else { Context::Messages };
                let address = Address { from, context, tag };
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
            prop_assert_eq!(mail.waiting, expected.values().map(VecDeque::len).sum::<usize>());
        }
    }
}

//! Messages of bytes that have arrived and that no receive has taken.

use std::collections::BTreeMap;

use crate::Context;

/// Which messages a receive is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Address {
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

#[derive(Debug, Default)]
pub(super) struct Mail {
    /// By address, and by arrival for each.
    letters: BTreeMap<(Address, u64), Letter>,
    arrivals: u64,
}

impl Mail {
    #[inline]
    pub(super) fn put(&mut self, address: Address, letter: Letter) {
        self.arrivals += 1;
        self.letters.insert((address, self.arrivals), letter);
    }

    /// The first message that arrived for `address`.
    #[inline]
    pub(super) fn take(&mut self, address: Address) -> Option<Letter> {
        let (&first, _) = self.letters.range((address, 0)..=(address, u64::MAX)).next()?;
        self.letters.remove(&first)
    }

    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_order() {
        let address = |from, context, tag| Address { from, context, tag };
        let (a, b) = (address(1, Context::Messages, 2), address(1, Context::Messages, 3));
        let mut mail = Mail::default();
        for (at, bytes) in [(b, 1), (a, 2), (b, 3), (a, 4)] {
            mail.put(at, Letter { ready: 0, bytes });
        }
        for other in [address(2, Context::Messages, 2), address(1, Context::Barrier, 2)] {
            assert!(mail.take(other).is_none());
        }
        let mut bytes = |at| mail.take(at).map(|letter| letter.bytes);
        assert_eq!(
            [bytes(a), bytes(b), bytes(a), bytes(a), bytes(b)],
            [Some(2), Some(1), Some(4), None, Some(3)]
        );
        assert_eq!(mail.len(), 0);
    }
}

//! Which message a receive takes.

use crate::Rank;

/// What a receive reports of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Who sent it.
    pub from: Rank,
    /// Its tag.
    pub tag: u32,
    /// Its length.
    pub bytes: usize,
}

/// Sender in bits 32..63 and tag below: what receives choose by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Envelope(u64);

impl Envelope {
    #[inline(always)]
    pub(super) fn new(from: Rank, tag: u32) -> Self {
        Self((from as u64) << 32 | u64::from(tag))
    }

    #[inline(always)]
    pub(super) fn from(self) -> Rank {
        (self.0 >> 32) as usize
    }

    #[inline(always)]
    pub(super) fn tag(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(super) fn status(self, bytes: usize) -> Status {
        Status { from: self.from(), tag: self.tag(), bytes }
    }
}

/// Envelopes that a receive takes: those that agree with `key` in the bits of `mask`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    key: u64,
    mask: u64,
}

/// Set in no envelope, and looked at by every filter.
const NOBODY: u64 = 1 << 63;
/// The same, of a filter that was closed otherwise.
const ASIDE: u64 = NOBODY | 1;
const SENDER: u64 = !NOBODY & !TAG;
const TAG: u64 = u32::MAX as u64;

impl Filter {
    /// Messages of this sender and tag; none stands for any.
    #[inline(always)]
    pub(super) fn new(from: Option<Rank>, tag: Option<u32>) -> Self {
        let (from, senders) = from.map_or((0, 0), |from| ((from as u64) << 32, SENDER));
        let (tag, tags) = tag.map_or((0, 0), |tag| (u64::from(tag), TAG));
        Self { key: from | tag, mask: NOBODY | senders | tags }
    }

    /// No message.
    pub(super) fn nobody() -> Self {
        Self { key: NOBODY, mask: NOBODY }
    }

    /// Makes it take no message from now on, since it took one.
    #[inline(always)]
    pub(super) fn close(&mut self) {
        self.key = NOBODY;
    }

    /// The same, where what it took is elsewhere.
    #[inline(always)]
    pub(super) fn close_aside(&mut self) {
        self.key = ASIDE;
    }

    /// Whether it takes no message any more.
    #[inline(always)]
    pub(super) fn is_closed(&self) -> bool {
        self.key & NOBODY != 0
    }

    /// Whether it was closed by [`Filter::close_aside`].
    #[inline(always)]
    pub(super) fn is_aside(&self) -> bool {
        self.key == ASIDE
    }

    #[inline(always)]
    pub(super) fn takes(&self, envelope: Envelope) -> bool {
        (envelope.0 ^ self.key) & self.mask == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_takes_what_it_names_and_a_closed_one_nothing() {
        let most = (1 << 31) - 1;
        let envelopes = [(0, 0), (0, 7), (1, 0), (1, 7), (1, u32::MAX), (most, 7)];
        for from in [None, Some(0), Some(1), Some(most)] {
            for tag in [None, Some(0), Some(7), Some(u32::MAX)] {
                let mut filter = Filter::new(from, tag);
                assert!(!filter.is_closed());
                for (sender, sent) in envelopes {
                    let expected =
                        from.is_none_or(|from| from == sender) && tag.is_none_or(|tag| tag == sent);
                    let envelope = Envelope::new(sender, sent);
                    assert_eq!(filter.takes(envelope), expected, "{filter:?} {envelope:?}");
                    let status = Status { from: sender, tag: sent, bytes: 3 };
                    assert_eq!(envelope.status(3), status);
                }
                let takes_none = |filter: Filter| {
                    envelopes.iter().all(|&(s, t)| !filter.takes(Envelope::new(s, t)))
                };
                filter.close();
                assert!(filter.is_closed() && !filter.is_aside() && takes_none(filter));
                filter.close_aside();
                assert!(filter.is_closed() && filter.is_aside() && takes_none(filter));
            }
        }
    }
}

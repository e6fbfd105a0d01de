//! Which message a receive has, and whether it might as well have had another.

use std::collections::VecDeque;

use super::error::Place;
use super::schedule::{ANY_PEER, ANY_TAG};
use super::stuck::Letter;

/// Receives from any rank for which, when each was matched, a message of another rank was there or on its way too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ambiguous {
    /// How many.
    pub count: u64,
    /// The first.
    pub first: Option<Place>,
}

/// Takes the first of a queue that a peer and a tag fit, and says how many are before it.
pub(super) fn found(queue: &mut VecDeque<Letter>, peer: u32, tag: u64) -> Option<(usize, Letter)> {
    let at = queue.iter().position(|letter| fits(letter, peer, tag))?;
    Some((at, queue.remove(at)?))
}

/// Whether a peer and a tag fit, either of which may be any on both sides.
pub(super) fn fits(letter: &Letter, peer: u32, tag: u64) -> bool {
    (letter.peer == peer || letter.peer == ANY_PEER || peer == ANY_PEER)
        && (letter.tag == tag || letter.tag == ANY_TAG || tag == ANY_TAG)
}

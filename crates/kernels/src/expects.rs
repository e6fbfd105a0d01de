//! What every rank must receive.

use std::iter::{once, repeat};

use bandgap_comm::{Part, Rank};

use crate::{Elements, Places};

/// A rank in a batch: whose expectations are asked for, and under what conditions.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// The rank.
    pub rank: Rank,
    /// Number of ranks that take part.
    pub size: usize,
    /// Samples in the batch.
    pub samples: u32,
    /// Where the rank's messages lie.
    pub places: Places,
}

/// Bytes of a message. In a timed batch messages share a place, so the bytes identify only the
/// sender, not the receiver or the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes that identify the sender, the receiver and the number of the message in its sample.
    Sent {
        /// The sender.
        source: Rank,
        /// The receiver; if there are several, a number that the kernel chose for all of them.
        to: Rank,
        /// Number of the message.
        message: u64,
    },
    /// A vector of doubles to be summed, which identifies its owner.
    Doubles {
        /// The owner.
        source: Rank,
        /// Number of the message.
        message: u64,
    },
    /// The sum of the vectors of ranks 0 to `sources` − 1.
    Sum {
        /// Number of ranks.
        sources: usize,
        /// Number of the message.
        message: u64,
    },
    /// Elements of a matrix. Their part of memory reaches from the first to the last.
    Elements(Elements),
}

/// A content, and the part of memory that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Part of memory.
    pub part: Part,
    /// Content.
    pub content: Content,
    /// Number of messages that bring it: more than one if it comes in blocks or is a sum.
    pub messages: u64,
}

impl Placed {
    /// The same content, but from the block of rank `source`.
    pub(crate) fn from(self, source: Rank) -> Self {
        let content = match self.content {
            Content::Elements(elements) => Content::Elements(Elements { source, ..elements }),
            other => other,
        };
        Self { content, ..self }
    }
}

/// Words from one peer, in this order: numbers `first`, `first + step`, …, `count` of them; the
/// whole sequence is repeated `times` times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The peer.
    pub peer: Rank,
    /// Number of the first word.
    pub first: u64,
    /// Difference between successive numbers.
    pub step: u64,
    /// Words in each repetition.
    pub count: u64,
    /// Number of repetitions.
    pub times: u64,
}

impl Sequence {
    /// Words 0 to `count` − 1, repeated `times` times.
    pub fn of(peer: Rank, count: u64, times: u64) -> Self {
        Self { peer, first: 0, step: 1, count, times }
    }

    /// Total number of words.
    pub fn words(&self) -> u64 {
        self.count.saturating_mul(self.times)
    }
}

/// What one rank must receive, and what its memory must hold so that others receive theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expects {
    /// What memory must hold before a sample.
    pub fills: Vec<Placed>,
    /// What memory must hold after a sample, in the order of arrival: if messages share a place,
    /// the last one counts.
    pub arrivals: Vec<Placed>,
    /// Messages that message passing receives in a sample ([`crate::is_counted`]).
    pub messages: u64,
    /// Words of requests received in the batch. Words of one peer come in the order of its
    /// sequences.
    pub requests: Vec<Sequence>,
    /// Words of this rank's requests whose replies are received in the batch.
    pub replies: Vec<Sequence>,
}

impl Expects {
    /// Expects Active Messages only: requests to this rank, and replies to its own requests.
    pub fn words(requests: Vec<Sequence>, replies: Vec<Sequence>) -> Self {
        Self { requests, replies, ..Self::default() }
    }

    /// In each of `messages` rounds `seat` sends a message to each of `peers` and receives one of
    /// the same number. Each message has the next place.
    pub fn exchanges(
        seat: &Seat,
        messages: u32,
        peers: impl Iterator<Item = Rank> + Clone,
    ) -> Self {
        Self::both_ways(seat, messages, peers.map(|peer| [peer, peer]))
    }

    /// In each of `messages` rounds `seat` sends a message to rank `to` and receives one of the
    /// same number from rank `from`. Each message has the next place.
    pub fn shifts(seat: &Seat, messages: u32, to: Rank, from: Rank) -> Self {
        Self::both_ways(seat, messages, once([to, from]))
    }

    /// In each of `messages` rounds `seat` sends to the first rank of each of `peers` and receives
    /// from the second.
    fn both_ways(
        seat: &Seat,
        messages: u32,
        peers: impl Iterator<Item = [Rank; 2]> + Clone,
    ) -> Self {
        let Seat { rank, places, .. } = *seat;
        let all = (0..messages.into()).flat_map(|message| peers.clone().zip(repeat(message)));
        let mut expects = Self::default();
        for (place, ([to, from], message)) in (0..).zip(all) {
            let sent = Content::Sent { source: rank, to, message };
            let received = Content::Sent { source: from, to: rank, message };
            expects.fill(places.outgoing(place), sent);
            expects.arrive(places.incoming(place), received);
        }
        expects
    }

    /// Adds content that `part` must hold before a sample, to be sent.
    pub fn fill(&mut self, part: Part, content: Content) {
        self.fills.push(Placed { part, content, messages: 0 });
    }

    /// Adds one message that arrives in `part` during a sample.
    pub fn arrive(&mut self, part: Part, content: Content) {
        self.arrive_by(1, part, content);
    }

    /// Adds content that `part` holds after `messages` messages of a sample. Content that was there
    /// before and arrives by no message is checked too.
    pub fn arrive_by(&mut self, messages: u64, part: Part, content: Content) {
        self.arrivals.push(Placed { part, content, messages });
        self.messages += messages;
    }
}

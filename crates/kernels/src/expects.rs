//! What every rank must receive.

use std::iter::{once, repeat};

use bandgap_comm::{Part, Rank};

use crate::{Elements, Places};

/// Whose expectations are asked for, and in what kind of batch.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// The rank.
    pub rank: Rank,
    /// Ranks that take part.
    pub size: usize,
    /// Samples of the batch.
    pub samples: u32,
    /// Where its messages lie.
    pub places: Places,
}

/// What the bytes of a message are. In a timed batch, whose messages share a place, they tell the
/// sender only, not the receiver and the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes that tell who sent them to whom, and in which message of a sample.
    Sent {
        /// The sender.
        source: Rank,
        /// The receiver; where there are several, the number that the kernel chose for them all.
        to: Rank,
        /// Number of the message.
        message: u64,
    },
    /// A vector of doubles that tells whose it is, to be summed.
    Doubles {
        /// Whose.
        source: Rank,
        /// Number of the message.
        message: u64,
    },
    /// The sum of the vectors of the first ranks.
    Sum {
        /// How many ranks.
        sources: usize,
        /// Number of the message.
        message: u64,
    },
    /// Elements of a matrix. Their part is that from the first to the last.
    Elements(Elements),
}

/// A content at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Where.
    pub part: Part,
    /// What.
    pub content: Content,
    /// Messages that bring it: several, where it comes in blocks or is a sum.
    pub messages: u64,
}

impl Placed {
    /// The same, where it comes from another rank.
    pub(crate) fn from(self, source: Rank) -> Self {
        let content = match self.content {
            Content::Elements(elements) => Content::Elements(Elements { source, ..elements }),
            other => other,
        };
        Self { content, ..self }
    }
}

/// Words that come from one peer, in this order: those number `first`, `first + step`, …, `count`
/// of them, and all of these `times` times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The peer.
    pub peer: Rank,
    /// Number of the first.
    pub first: u64,
    /// From one number to the next.
    pub step: u64,
    /// Words each time.
    pub count: u64,
    /// How often.
    pub times: u64,
}

impl Sequence {
    /// Words number 0 to `count` − 1, once for each of `times`.
    pub fn of(peer: Rank, count: u64, times: u64) -> Self {
        Self { peer, first: 0, step: 1, count, times }
    }

    /// How many words.
    pub fn words(&self) -> u64 {
        self.count.saturating_mul(self.times)
    }
}

/// What one rank must receive, and what its memory must hold for others to receive it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expects {
    /// What lies in memory before a sample.
    pub fills: Vec<Placed>,
    /// What has arrived after it, in the order of arrival: where messages share a place, the last
    /// one stays.
    pub arrivals: Vec<Placed>,
    /// Messages received in a sample, with message passing ([`crate::is_counted`]).
    pub messages: u64,
    /// Words of the requests received in the batch. Those of one peer come in the order of its
    /// sequences.
    pub requests: Vec<Sequence>,
    /// Requests of this rank whose replies are received in the batch.
    pub replies: Vec<Sequence>,
}

impl Expects {
    /// Words: of so many requests to this rank, and of its own requests whose replies come.
    pub fn words(requests: Vec<Sequence>, replies: Vec<Sequence>) -> Self {
        Self { requests, replies, ..Self::default() }
    }

    /// `messages` times a message goes from `seat` to each of `peers`, and one of the same number
    /// comes back. Each has the next place.
    pub fn exchanges(
        seat: &Seat,
        messages: u32,
        peers: impl Iterator<Item = Rank> + Clone,
    ) -> Self {
        Self::both_ways(seat, messages, peers.map(|peer| [peer, peer]))
    }

    /// `messages` times a message goes from `seat` to rank `to`, and one of the same number comes
    /// from rank `from`. Each has the next place.
    pub fn shifts(seat: &Seat, messages: u32, to: Rank, from: Rank) -> Self {
        Self::both_ways(seat, messages, once([to, from]))
    }

    /// `messages` times a message goes to the first and one comes from the second of each of `peers`.
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

    /// Before a sample, `part` holds what is sent.
    pub fn fill(&mut self, part: Part, content: Content) {
        self.fills.push(Placed { part, content, messages: 0 });
    }

    /// In a sample, one more message arrives in `part`.
    pub fn arrive(&mut self, part: Part, content: Content) {
        self.arrive_by(1, part, content);
    }

    /// In a sample, `messages` more messages bring what is then in `part`. If it held that before,
    /// it still does.
    pub fn arrive_by(&mut self, messages: u64, part: Part, content: Content) {
        self.arrivals.push(Placed { part, content, messages });
        self.messages += messages;
    }
}

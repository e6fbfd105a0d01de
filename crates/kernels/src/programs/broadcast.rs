//! Broadcasts: one rank's bytes sent to all.

use bandgap_comm::collectives::{Algorithm, Broadcast as Own, Count};
use bandgap_comm::{Comm, Part, Rank, Result};
use serde::{Deserialize, Serialize};

use super::repeat::by_shape;
use super::variant::By;
use crate::{
    AtSize, Content, Expects, Kernel, Needs, OverComm, Places, Refused, Round, Seat, Series, Shape,
    messages_in_range, ranks_at_least,
};

/// M times a broadcast of n bytes from rank 0, and one back: from the rank that ends last, with
/// ranks numbered in reverse, so that rank 0 ends last. Each broadcast begins when the one before
/// has ended on all ranks. So 2M of them take 2M times as long as one, from the root's begin to the
/// last rank's end, and rank 0 sees both ends. The algorithm says which rank ends last
/// ([`Own::last`]); for a library the last rank is used.
///
/// *Assumes* that this rank does end last, as [`Own::last`] does. If another rank ends later, the
/// difference is missing from the time, unless the next broadcast waits for that rank.
///
/// Marks of rank 0, in each sample: begin, end, end. A barrier precedes the first sample.
/// *Source*: CoMet, section 3.3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broadcast {
    /// Broadcasts there, and broadcasts back, in a sample (M of each).
    pub messages: u32,
    /// Bytes of each broadcast (n).
    pub bytes: usize,
    /// Algorithm.
    pub algorithm: By<Own>,
    /// Whether rank 0 is the root of all of them, as in OSU, and each is timed by itself.
    #[serde(default)]
    pub from_one: bool,
}

impl Broadcast {
    /// Broadcasts in a sample, there and back.
    fn broadcasts(&self) -> u32 {
        self.messages.saturating_mul(2)
    }

    /// The rank that is assumed to end last. It is the root of every second broadcast.
    fn last(&self, size: usize) -> Rank {
        let last = || self.algorithm.own().map_or(size.saturating_sub(1), |own| own.last(size));
        if self.from_one { 0 } else { last() }
    }

    /// The root of a broadcast, and how the other ranks are numbered. `last` is the rank that ends
    /// broadcasts from rank 0 last.
    #[inline(always)]
    fn from(message: u64, last: Rank) -> (Rank, Count) {
        match message % 2 {
            0 => (0, Count::Up),
            _ => (last, Count::Down),
        }
    }
}

impl Kernel for Broadcast {
    const NAME: &'static str = "broadcast";
    const SERIES: &'static [Series] = &[Series {
        parts: 2,
        variants: Own::NAMES,
        library: true,
        bus: Some(|_| 1.0),
        ..Series::of_all("broadcast", |_| 1)
    }];

    fn at(AtSize { size: bytes, messages, variant, shape, .. }: AtSize) -> Option<Self> {
        let (algorithm, from_one) = (By::variant(variant)?, shape == Shape::Osu);
        Some(Self { messages, bytes, algorithm, from_one })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.broadcasts(), self.bytes)?;
        ranks_at_least(1, size)?;
        self.algorithm.check(size, self.bytes)
    }

    fn operations(&self) -> Option<u32> {
        Some(self.broadcasts())
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs::both_ways(self.broadcasts().into(), self.bytes)
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let Seat { rank, size, places, .. } = *seat;
        let (mut expects, last) = (Expects::default(), self.last(size));
        for message in 0..self.broadcasts().into() {
            let (root, _) = Self::from(message, last);
            let content = Content::Sent { source: root, to: root, message };
            let by_library = u64::from(rank != root);
            let receives = self
                .algorithm
                .own()
                .map_or(by_library, |own| own.receives(rank, size, root, self.bytes));
            let part = part(&places, message, root == rank);
            if root == rank {
                expects.fill(part, content);
            }
            // Blocks of the message may come back to the root.
            if receives > 0 {
                expects.arrive_by(receives, part, content);
            }
        }
        expects
    }
}

impl OverComm for Broadcast {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        let (rank, size, places) = (comm.rank(), comm.size(), *places);
        let (algorithm, last) = (self.algorithm, self.last(size));
        comm.barrier()?;
        by_shape(comm, round, self.broadcasts(), true, |comm, message| {
            let (root, count) = Self::from(message, last);
            let part = part(&places, message, root == rank);
            match algorithm {
                By::Library => comm.broadcast(root, part),
                By::Own(algorithm) => algorithm.counted(comm, root, count, part),
            }
        })
    }
}

/// Where the bytes of a message lie, at the root or elsewhere.
#[inline(always)]
fn part(places: &Places, message: u64, at_root: bool) -> Part {
    match at_root {
        true => places.outgoing(message),
        false => places.incoming(message),
    }
}

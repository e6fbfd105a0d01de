//! Bytes of one rank given to all.

use bandgap_comm::collectives::{Algorithm, Broadcast as By};
use bandgap_comm::{Comm, CommError, Part, Rank};
use serde::{Deserialize, Serialize};

use super::repeat::by_rank;
use super::variant::OfVariant;
use crate::kernel::{messages_in_range, ranks_at_least};
use crate::{
    AtSize, Content, Expects, Kernel, Needs, OverComm, Places, Refused, Round, Seat, Series,
};

/// M broadcasts of n bytes, each from the next rank: a root that stays could run
/// ahead, and only the sending would be timed. The next root may begin as soon as it has its bytes,
/// so down a binomial tree the time of one is at most that of ⌈log₂ P⌉ messages in a row.
///
/// Marks of rank 0, in each sample: begin, end, end. A barrier comes before the first sample.
/// *Source*: CoMet, section 3.3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broadcast {
    /// Broadcasts of a sample (M).
    pub messages: u32,
    /// Bytes of each (n).
    pub bytes: usize,
    /// How they get to all.
    pub algorithm: By,
}

impl Kernel for Broadcast {
    const NAME: &'static str = "broadcast";
    const MEANING: &'static str = "bytes of one rank given to all";
    const SERIES: &'static [Series] = &[Series {
        variants: By::NAMES,
        in_turn: true,
        ..Series::of_all(
            "broadcast",
            "one rank to all, each in turn: t(n) is one of many broadcasts",
            |ranks| (ranks as u64).saturating_sub(1),
        )
    }];
    const EXAMPLES: &'static [(u32, usize)] = &[(1, 8), (20, 100), (3, 20_000)];

    fn at(AtSize { size: bytes, messages, variant, .. }: AtSize) -> Option<Self> {
        Some(Self { messages, bytes, algorithm: By::of_variant(variant)? })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        ranks_at_least(1, size)?;
        self.algorithm
            .fits(size, self.bytes)
            .map_err(|error| Refused::because(format!("cannot {error}")))
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs::both_ways(self.messages.into(), self.bytes)
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let Seat { rank, size, places, .. } = *seat;
        let mut expects = Expects::default();
        for message in 0..self.messages.into() {
            let root = root(message, size);
            let content = Content::Sent { source: root, to: root, message };
            let receives = self.algorithm.receives(rank, size, root, self.bytes);
            let part = part(&places, message, root == rank);
            if root == rank {
                expects.fill(part, content);
            }
            // Blocks of it may come back to the root.
            if receives > 0 {
                expects.arrive_by(receives, part, content);
            }
        }
        expects
    }
}

impl OverComm for Broadcast {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<(), CommError> {
        let (rank, size, places) = (comm.rank(), comm.size(), *places);
        let algorithm = self.algorithm;
        comm.barrier()?;
        by_rank(comm, 0, round.samples, self.messages, |comm, message| {
            let root = root(message, size);
            algorithm.run(comm, root, part(&places, message, root == rank))
        })
    }
}

/// Where the bytes of a message are, at the root or elsewhere.
#[inline(always)]
fn part(places: &Places, message: u64, at_root: bool) -> Part {
    match at_root {
        true => places.outgoing(message),
        false => places.incoming(message),
    }
}

/// The rank that has the bytes of a message.
#[inline(always)]
fn root(message: u64, size: usize) -> Rank {
    (message % size as u64) as Rank
}

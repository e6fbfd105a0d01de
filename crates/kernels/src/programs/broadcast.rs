//! Bytes of one rank given to all.

use bandgap_comm::{Comm, CommError, Rank};
use serde::{Deserialize, Serialize};

use super::repeat::by_rank;
use crate::kernel::{messages_in_range, ranks_at_least};
use crate::{
    AtSize, Content, Expects, Kernel, Needs, OverComm, Places, Refused, Round, Seat, Series,
};

/// M broadcasts of n bytes by a binomial tree, each from the next rank: a root that stays could run
/// ahead, and only the sending would be timed. The next root may begin as soon as it has its bytes,
/// so the time of one of them is at most that of ⌈log₂ P⌉ messages in a row.
///
/// Marks of rank 0, in each sample: begin, end, end. A barrier comes before the first sample.
/// *Source*: CoMet, section 3.2 (broadcast).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broadcast {
    /// Broadcasts of a sample (M).
    pub messages: u32,
    /// Bytes of each (n).
    pub bytes: usize,
}

impl Kernel for Broadcast {
    const NAME: &'static str = "broadcast";
    const MEANING: &'static str = "bytes of one rank given to all";
    const SERIES: Option<Series> = Some(Series::of_all(
        "broadcast",
        "one rank to all, each in turn: t(n) is one of many broadcasts",
        |ranks| (ranks as u64).saturating_sub(1),
    ));
    const EXAMPLES: &'static [(u32, usize)] = &[(1, 8), (20, 100), (3, 20_000)];

    fn at(AtSize { bytes, messages, .. }: AtSize) -> Option<Self> {
        Some(Self { messages, bytes })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        ranks_at_least(1, size)
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
            match root == rank {
                true => expects.fill(places.outgoing(message), content),
                false => expects.arrive(places.incoming(message), content),
            }
        }
        expects
    }
}

impl OverComm for Broadcast {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<(), CommError> {
        let (rank, size, places) = (comm.rank(), comm.size(), *places);
        comm.barrier()?;
        by_rank(comm, 0, round.samples, self.messages, |comm, message| {
            let root = root(message, size);
            let part = match root == rank {
                true => places.outgoing(message),
                false => places.incoming(message),
            };
            comm.broadcast(root, part)
        })
    }
}

/// The rank that has the bytes of a message.
#[inline(always)]
fn root(message: u64, size: usize) -> Rank {
    (message % size as u64) as Rank
}

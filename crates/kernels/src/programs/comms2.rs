//! Messages both ways at once between two ranks.

use bandgap_comm::{Comm, CommError, Rank};
use serde::{Deserialize, Serialize};

use super::Pair;
use super::repeat::by_rank_on;
use super::travel::exchanges;
use crate::kernel::messages_in_range;
use crate::{
    AtSize, Buffers, Expects, Kernel, Needs, OverComm, Places, Refused, Round, Seat, Series,
};

const TAG: u32 = 1;

/// M exchanges of messages of n bytes, both ways at once: PARKBENCH's COMMS2, and CoMet's
/// pairwise exchange. A rank sends and receives different arrays, so [`Buffers::Same`] is refused.
///
/// Marks of the first rank, in each sample: begin, end, end.
/// *Source*: as [`super::Comms1`]; CoMet, section 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comms2 {
    /// Between which ranks.
    pub pair: Pair,
    /// Exchanges of a sample (M).
    pub messages: u32,
    /// Bytes of a message (n).
    pub bytes: usize,
    /// Where successive messages lie.
    #[serde(default)]
    pub buffers: Buffers,
}

impl Kernel for Comms2 {
    const NAME: &'static str = "comms2";
    const SERIES: &'static [Series] = &[
        Series { parts: 2, buffers: Some(Buffers::Separate), ..Series::between_two("comms2") },
        Series {
            moves: |_| 2,
            at_distances: true,
            buffers: Some(Buffers::Separate),
            ..Series::between_two("exchange")
        },
    ];
    const EXAMPLES: &'static [(u32, usize)] = &[(1, 0), (5, 1), (4, 100), (3, 20_000), (2, 70_001)];

    fn at(AtSize { size: bytes, messages, pair, buffers, .. }: AtSize) -> Option<Self> {
        Some(Self { pair, messages, bytes, buffers })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        self.buffers.check()?;
        Refused::unless(self.buffers != Buffers::Same, || {
            "one array cannot travel both ways at once: what arrives would overwrite what is sent \
             (take separate or fresh buffers)"
                .to_owned()
        })?;
        self.pair.check(size)
    }

    fn timed(&self, _size: usize) -> [Rank; 2] {
        self.pair.both()
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs::both_ways(self.messages.into(), self.bytes).lying(self.buffers)
    }

    fn expects(&self, seat: &Seat) -> Expects {
        exchanges(seat, self.messages, self.pair)
    }
}

impl OverComm for Comms2 {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<(), CommError> {
        let (requester, places) = (self.pair.requester, *places);
        let Some(peer) = self.pair.peer(comm.rank()) else { return Ok(()) };
        by_rank_on(comm, requester, round.samples, self.messages, |comm, i| {
            comm.exchange(peer, TAG, places.outgoing(i), places.incoming(i))
        })
    }
}

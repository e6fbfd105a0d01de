//! Messages back and forth between two ranks.

use bandgap_comm::{Comm, CommError, Rank};
use serde::{Deserialize, Serialize};

use super::Pair;
use super::pair::Side;
use super::repeat::repeat_on;
use super::travel::round_trips;
use crate::kernel::messages_in_range;
use crate::{
    AtSize, Buffers, Expects, Kernel, Needs, OverComm, Places, Refused, Round, Seat, Series, Shape,
};

const TAG: u32 = 1;

/// M round trips of a message of n bytes: PARKBENCH's COMMS1, and CoMet's echo.
///
/// Marks of the first rank, in each sample: begin, end, end.
/// *Source*: Hockney and Berry (editors), "PARKBENCH Report: Public International Benchmarks for
/// Parallel Computers" (1994), low-level benchmarks. CoMet, section 3.3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comms1 {
    /// Between which ranks.
    pub pair: Pair,
    /// Round trips of a sample (M).
    pub messages: u32,
    /// Bytes of a message (n).
    pub bytes: usize,
    /// Where successive messages lie.
    #[serde(default)]
    pub buffers: Buffers,
}

impl Kernel for Comms1 {
    const NAME: &'static str = "comms1";
    const SERIES: &'static [Series] = &[
        Series {
            parts: 2,
            // PARKBENCH's partner returns what it received.
            buffers: Some(Buffers::Same),
            ..Series::between_two("comms1")
        },
        Series {
            parts: 2,
            at_distances: true,
            buffers: Some(Buffers::Separate),
            ..Series::between_two("echo")
        },
    ];
    const EXAMPLES: &'static [(u32, usize)] = &[(1, 0), (5, 1), (4, 100), (3, 20_000), (2, 70_001)];

    fn at(AtSize { size: bytes, messages, pair, buffers, .. }: AtSize) -> Option<Self> {
        Some(Self { pair, messages, bytes, buffers })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        self.buffers.check()?;
        self.pair.check(size)
    }

    fn timed(&self, _size: usize) -> [Rank; 2] {
        self.pair.both()
    }

    fn operations(&self) -> Option<u32> {
        Some(self.messages)
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs::both_ways(self.messages.into(), self.bytes).lying(self.buffers)
    }

    fn expects(&self, seat: &Seat) -> Expects {
        round_trips(seat, self.messages, self.pair, self.buffers)
    }
}

impl OverComm for Comms1 {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<(), CommError> {
        let (messages, samples, places) = (self.messages, round.samples, *places);
        match self.pair.side(comm.rank()) {
            Side::Requester { peer } if round.shape == Shape::Osu => {
                repeat_on::<false, _>(comm, samples, messages, |comm, i| {
                    comm.mark();
                    comm.send(peer, TAG, places.outgoing(i))?;
                    comm.recv(peer, TAG, places.incoming(i))?;
                    comm.mark();
                    Ok(())
                })
            }
            Side::Requester { peer } => repeat_on::<true, _>(comm, samples, messages, |comm, i| {
                comm.send(peer, TAG, places.outgoing(i))?;
                comm.recv(peer, TAG, places.incoming(i))
            }),
            Side::Replier { peer } => repeat_on::<false, _>(comm, samples, messages, |comm, i| {
                comm.recv(peer, TAG, places.incoming(i))?;
                comm.send(peer, TAG, places.answer(i))
            }),
            Side::Idle => Ok(()),
        }
    }
}

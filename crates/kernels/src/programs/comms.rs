//! Messages between two ranks: back and forth, or both ways at once.

use bandgap_comm::{Comm, Rank, Result};
use serde::{Deserialize, Serialize};

use super::pair::Pair;
use super::pair::PairRole::{Idle, Replier, Requester};
use super::repeat::{by_rank_on, repeat_on};
use crate::{
    AtSize, Buffers, Content, Expects, Kernel, Look, Needs, OverComm, Places, Refused, Round, Seat,
    Series, Shape, messages_in_range,
};

const TAG: u32 = 1;

/// M times a message of n bytes there and one back, or, if `AT_ONCE`, both ways at once.
///
/// Marks of the requester, in each sample: begin, end, end.
/// *Source*: Hockney and Berry (editors), "PARKBENCH Report: Public International Benchmarks for
/// Parallel Computers" (1994), low-level benchmarks. CoMet, sections 3.3.1 and 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comms<const AT_ONCE: bool> {
    /// The two ranks.
    pub pair: Pair,
    /// Round trips or exchanges in a sample (M).
    pub messages: u32,
    /// Bytes of a message (n).
    pub bytes: usize,
    /// Where successive messages lie.
    #[serde(default)]
    pub buffers: Buffers,
}

/// M round trips of a message of n bytes: PARKBENCH's COMMS1 and CoMet's echo.
pub type Comms1 = Comms<false>;

/// M exchanges of messages of n bytes, both ways at once: PARKBENCH's COMMS2 and CoMet's pairwise
/// exchange. A rank must send and receive different arrays, so [`Buffers::Same`] is refused.
pub type Comms2 = Comms<true>;

impl<const AT_ONCE: bool> Kernel for Comms<AT_ONCE> {
    const NAME: &'static str = if AT_ONCE { "comms2" } else { "comms1" };
    const SERIES: &'static [Series] = &[
        Series {
            parts: 2,
            // PARKBENCH's partner returns what it received.
            buffers: Some(if AT_ONCE { Buffers::Separate } else { Buffers::Same }),
            look: if AT_ONCE { Look::Many } else { Look::Headline },
            ..Series::between_two(Self::NAME)
        },
        Series {
            parts: if AT_ONCE { 1 } else { 2 },
            moves: if AT_ONCE { |_| 2 } else { |_| 1 },
            at_distances: true,
            buffers: Some(Buffers::Separate),
            ..Series::between_two(if AT_ONCE { "exchange" } else { "echo" })
        },
    ];

    fn at(AtSize { size: bytes, messages, pair, buffers, .. }: AtSize) -> Option<Self> {
        Some(Self { pair, messages, bytes, buffers })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        self.buffers.check()?;
        Refused::unless(!AT_ONCE || self.buffers != Buffers::Same, || {
            "one array cannot travel both ways at once: what arrives would overwrite what is sent; \
             use separate or fresh buffers"
                .to_owned()
        })?;
        self.pair.check(size)
    }

    fn timed(&self, _size: usize) -> [Rank; 2] {
        self.pair.both()
    }

    fn operations(&self) -> Option<u32> {
        (!AT_ONCE).then_some(self.messages)
    }

    fn needs(&self, _size: usize) -> Needs {
        let Self { messages, bytes, buffers, .. } = *self;
        Needs { buffers, ..Needs::both_ways(messages.into(), bytes) }
    }

    /// Under [`Buffers::Same`] the requester gets back what it sent, with the same source and
    /// number, and the replier has nothing of its own to send.
    ///
    /// If messages share a ring, all of it holds what is sent, so that writing it evicts what was
    /// received before from the caches.
    fn expects(&self, seat: &Seat) -> Expects {
        let Seat { rank, places, samples, .. } = *seat;
        let (same, mut expects) = (self.buffers == Buffers::Same, Expects::default());
        let Some(peer) = self.pair.peer(rank) else { return expects };
        let asks = rank == self.pair.requester;
        let content = |[source, to]: [Rank; 2], message| Content::Sent { source, to, message };
        if asks || !same {
            let sent = |at| content([rank, peer], at);
            (0..places.count()).for_each(|at| expects.fill(places.outgoing(at), sent(at)));
        }
        let received = if asks && same { [rank, peer] } else { [peer, rank] };
        let all = u64::from(samples) * u64::from(self.messages);
        for at in 0..all.min(places.count()) {
            expects.arrive(places.incoming(at), content(received, at));
        }
        expects.messages = self.messages.into();
        expects
    }
}

impl<const AT_ONCE: bool> OverComm for Comms<AT_ONCE> {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        let (messages, samples, places) = (self.messages, round.samples, *places);
        if AT_ONCE {
            let Some(peer) = self.pair.peer(comm.rank()) else { return Ok(()) };
            return by_rank_on(comm, self.pair.requester, samples, messages, |comm, i| {
                comm.exchange(peer, TAG, places.outgoing(i), places.incoming(i))
            });
        }
        match self.pair.side(comm.rank()) {
            Requester { peer } if round.shape == Shape::Osu => {
                repeat_on::<false, _>(comm, samples, messages, |comm, i| {
                    comm.mark();
                    comm.send(peer, TAG, places.outgoing(i))?;
                    comm.recv(peer, TAG, places.incoming(i))?;
                    comm.mark();
                    Ok(())
                })
            }
            Requester { peer } => repeat_on::<true, _>(comm, samples, messages, |comm, i| {
                comm.send(peer, TAG, places.outgoing(i))?;
                comm.recv(peer, TAG, places.incoming(i))
            }),
            Replier { peer } => repeat_on::<false, _>(comm, samples, messages, |comm, i| {
                comm.recv(peer, TAG, places.incoming(i))?;
                comm.send(peer, TAG, places.answer(i))
            }),
            Idle => Ok(()),
        }
    }
}

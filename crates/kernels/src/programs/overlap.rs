//! An exchange that overlaps with a computation.

use bandgap_comm::{Comm, Delay, Rank, Result, Work};
use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::Pair;
use super::repeat::{by_rank, repeat_on};
use crate::{
    Expects, Kernel, MOST_BYTES, Needs, OverComm, Places, Refused, Round, Samples, Seat, Stamps,
    messages_in_range,
};

const TAG: u32 = 1;
/// Tag of the second exchange: when its messages have arrived, those of the first have too.
const BEHIND: u32 = 2;

/// Column of the time that a rank takes to receive a message that has arrived; only of
/// [`OverlapMode::Overheads`].
pub const TAKE: &str = "take";

/// Order of the exchange and the computation.
#[derive(
    Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[display(rename_all = "snake_case")]
pub enum OverlapMode {
    /// The exchange, then the computation.
    Blocking,
    /// Begin to receive and to send, then compute, then wait for both.
    NonBlocking,
    /// The exchange alone.
    Exchange,
    /// The computation alone.
    Computation,
    /// The part of the exchange that the processor must do itself: begin to receive and to send;
    /// move both messages by a second exchange of the same length; then wait for both. The first
    /// and the last step are timed.
    Overheads,
}

impl OverlapMode {
    /// All modes.
    pub const ALL: [Self; 5] =
        [Self::Blocking, Self::NonBlocking, Self::Exchange, Self::Computation, Self::Overheads];

    /// Whether messages are exchanged.
    pub fn exchanges(self) -> bool {
        self != Self::Computation
    }

    /// Whether vectors are computed.
    pub fn computes(self) -> bool {
        matches!(self, Self::Blocking | Self::NonBlocking | Self::Computation)
    }
}

/// M exchanges of messages of n bytes between two ranks, and M computations y ← a·x + y of vectors
/// of v elements: CoMet's overlap of communication with computation.
///
/// Marks of the requester, in each sample: begin, end, end. With [`OverlapMode::Overheads`], where
/// M is 1: begin, begun, moved, end.
/// *Source*: CoMet, section 3.3.7, figures 3.8 and 3.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlap {
    /// The two ranks. Both compute.
    pub pair: Pair,
    /// Exchanges and computations in a sample (M).
    pub messages: u32,
    /// Bytes of a message (n).
    pub bytes: usize,
    /// The computation: one iteration for each vector element (v).
    pub work: Delay,
    /// Order of the two.
    pub mode: OverlapMode,
}

impl Overlap {
    /// Messages each way in a sample.
    fn each_way(&self) -> u32 {
        match self.mode {
            OverlapMode::Computation => 0,
            OverlapMode::Overheads => 2 * self.messages,
            _ => self.messages,
        }
    }

    /// An exchange whose overheads are timed, followed by a second one.
    #[inline(always)]
    fn overheads<C: Comm>(
        self,
        comm: &mut C,
        peer: Rank,
        places: &Places,
        times: bool,
    ) -> Result<()> {
        let mark = |comm: &mut C| {
            if times {
                comm.mark();
            }
        };
        mark(comm);
        let receive = comm.irecv(peer, TAG, places.incoming(0))?;
        let send = comm.isend(peer, TAG, places.outgoing(0))?;
        mark(comm);
        // Messages from one rank to another keep their order.
        comm.exchange(peer, BEHIND, places.outgoing(1), places.incoming(1))?;
        mark(comm);
        comm.wait(send)?;
        comm.wait(receive)?;
        mark(comm);
        Ok(())
    }
}

impl Kernel for Overlap {
    const NAME: &'static str = "overlap";

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        let most = (MOST_BYTES / size_of::<f64>()) as u32;
        Refused::unless(self.work.iterations <= most, || {
            format!("vectors of {} elements are too long (limit {most})", self.work.iterations)
        })?;
        Refused::unless(self.mode != OverlapMode::Overheads || self.messages == 1, || {
            format!("overheads are timed for one exchange in a sample, not {}", self.messages)
        })?;
        self.pair.check(size)
    }

    fn timed(&self, _size: usize) -> [Rank; 2] {
        self.pair.both()
    }

    fn needs(&self, _size: usize) -> Needs {
        let bytes = if self.mode.exchanges() { self.bytes } else { 0 };
        let doubles = if self.mode.computes() { self.work.iterations as usize } else { 0 };
        Needs { doubles, ..Needs::both_ways(self.each_way().into(), bytes) }
    }

    fn expects(&self, seat: &Seat) -> Expects {
        Expects::exchanges(seat, self.each_way(), self.pair.peer(seat.rank).into_iter())
    }

    fn marks(&self, samples: u32) -> usize {
        4 * samples as usize
    }

    fn samples(&self, _size: usize, stamps: &Stamps) -> Samples {
        match self.mode {
            OverlapMode::Overheads => Samples::of_fours(stamps, self.pair.requester, TAKE),
            _ => Samples::of_triples(stamps, self.pair.requester),
        }
    }
}

impl OverComm for Overlap {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        let (kernel, samples, places) = (*self, round.samples, *places);
        let Self { pair, messages, .. } = kernel;
        let (timer, work) = (pair.requester, Work::Daxpy(kernel.work));
        let Some(peer) = pair.peer(comm.rank()) else { return Ok(()) };
        let exchange =
            |comm: &mut C, i| comm.exchange(peer, TAG, places.outgoing(i), places.incoming(i));
        match kernel.mode {
            OverlapMode::Blocking => by_rank(comm, timer, samples, messages, |comm, i| {
                exchange(comm, i)?;
                comm.compute(work);
                Ok(())
            }),
            OverlapMode::NonBlocking => by_rank(comm, timer, samples, messages, |comm, i| {
                let receive = comm.irecv(peer, TAG, places.incoming(i))?;
                let send = comm.isend(peer, TAG, places.outgoing(i))?;
                comm.compute(work);
                comm.wait(send)?;
                comm.wait(receive)
            }),
            OverlapMode::Exchange => by_rank(comm, timer, samples, messages, exchange),
            OverlapMode::Computation => by_rank(comm, timer, samples, messages, |comm, _| {
                comm.compute(work);
                Ok(())
            }),
            OverlapMode::Overheads => {
                let times = comm.rank() == timer;
                repeat_on::<false, _>(comm, samples, messages, |comm, _| {
                    kernel.overheads(comm, peer, &places, times)
                })
            }
        }
    }
}

//! Windows of messages between pairs of ranks: one way with a short reply, or both ways at once.

use bandgap_comm::{Comm, Rank, Result};
use serde::{Deserialize, Serialize};

use super::message_costs::nothing;
use super::repeat::repeat_on;
use crate::{
    AtSize, Content, Expects, Kernel, Look, MOST_MESSAGES, MOST_PLACES, Needs, OverComm, Places,
    Refused, Round, Samples, Seat, Series, Stamps, messages_in_range,
};

const TAG: u32 = 1;
/// Tag of replies.
const REPLY: u32 = 2;
/// Usual number of messages in a window, as in the OSU benchmarks.
const WINDOW: u32 = 64;

/// M windows of messages of n bytes. Each rank of the lower half has a peer in the upper half; all
/// pairs do the same at the same time.
///
/// Marks of each rank of the lower half, in each sample: begin, end, end. A barrier precedes the
/// first sample.
///
/// *Formula*: a sample is the harmonic mean of the pairs' times, so that their rates add up.
/// *Source*: the OSU benchmarks, version 7.4: osu_bw, osu_bibw, osu_mbw_mr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Windows<const BOTH: bool> {
    /// Windows in a sample (M).
    pub windows: u32,
    /// Messages in a window (W), each way.
    pub window: u32,
    /// Bytes of a message (n).
    pub bytes: usize,
}

/// M times a lower rank begins to send W messages and waits for them, until a reply without bytes
/// says that all have arrived: osu_bw's loop.
pub type Stream = Windows<false>;

/// M times both ranks of a pair begin to receive and to send W messages, and wait for all of them:
/// osu_bibw's loop.
pub type Bidirectional = Windows<true>;

impl<const BOTH: bool> Windows<BOTH> {
    /// Messages in a sample, each way.
    fn messages(&self) -> u64 {
        u64::from(self.windows) * u64::from(self.window)
    }

    /// The other rank of the pair, and whether this one is the lower.
    fn peer(rank: Rank, size: usize) -> (Rank, bool) {
        let half = size / 2;
        if rank < half { (rank + half, true) } else { (rank - half, false) }
    }
}

impl<const BOTH: bool> Kernel for Windows<BOTH> {
    const NAME: &'static str = if BOTH { "bidirectional" } else { "stream" };
    const SERIES: &'static [Series] = &[Series {
        parts: WINDOW,
        windows: true,
        look: Look::Many,
        ..Series::of_all(Self::NAME, |ranks| (ranks / if BOTH { 1 } else { 2 }) as u64)
    }];

    fn at(AtSize { size: bytes, messages: windows, window, .. }: AtSize) -> Option<Self> {
        Some(Self { windows, window: window.unwrap_or(WINDOW), bytes })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.windows, self.bytes)?;
        let most = MOST_MESSAGES / self.windows;
        Refused::unless((1..=most).contains(&self.window), || {
            format!("a window has from 1 to {most} messages, not {}", self.window)
        })?;
        Refused::unless(size > 0 && size.is_multiple_of(2), || {
            format!("pairs need an even number of ranks; there are {size}")
        })
    }

    fn checked(self) -> Self {
        let place = self.bytes.next_multiple_of(64).max(64);
        let most = (MOST_PLACES / (2 * place)).max(1) as u32;
        let window = self.window.min(most);
        Self { window, windows: self.windows.min(most / window), ..self }
    }

    fn timed(&self, size: usize) -> [Rank; 2] {
        [0, size / 2]
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs::both_ways(self.messages(), self.bytes)
    }

    fn expects(&self, &Seat { rank, size, places, .. }: &Seat) -> Expects {
        let (peer, lower) = Self::peer(rank, size);
        let content = |[source, to]: [Rank; 2], message| Content::Sent { source, to, message };
        let mut expects = Expects::default();
        for at in 0..self.messages().min(places.count()) {
            if BOTH || lower {
                expects.fill(places.outgoing(at), content([rank, peer], at));
            }
            if BOTH || !lower {
                expects.arrive(places.incoming(at), content([peer, rank], at));
            }
        }
        expects.messages = if BOTH || !lower { self.messages() } else { 0 };
        if lower && !BOTH {
            let replies = content([peer, rank], 0);
            expects.arrive_by(self.windows.into(), nothing(&places), replies);
        }
        expects
    }

    fn samples(&self, size: usize, stamps: &Stamps) -> Samples {
        Samples::at_once(stamps, 0..size / 2)
    }
}

impl<const BOTH: bool> OverComm for Windows<BOTH> {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        let (Self { windows, .. }, places, samples) = (*self, *places, round.samples);
        let window = u64::from(self.window);
        let (peer, lower) = Self::peer(comm.rank(), comm.size());
        let mut begun = Vec::with_capacity(2 * self.window as usize);
        comm.barrier()?;
        // Messages are numbered within a sample.
        let once = |comm: &mut C, nth: u64| {
            let first = nth % u64::from(windows) * window;
            if BOTH || !lower {
                for i in first..first + window {
                    begun.push(comm.irecv(peer, TAG, places.incoming(i))?);
                }
            }
            if BOTH || lower {
                for i in first..first + window {
                    begun.push(comm.isend(peer, TAG, places.outgoing(i))?);
                }
            }
            comm.wait_all(&mut begun)?;
            match lower {
                _ if BOTH => Ok(()),
                true => comm.recv(peer, REPLY, nothing(&places)),
                false => comm.send(peer, REPLY, nothing(&places)),
            }
        };
        match lower {
            true => repeat_on::<true, _>(comm, samples, windows, once),
            false => repeat_on::<false, _>(comm, samples, windows, once),
        }
    }
}

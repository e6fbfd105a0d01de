//! Messages back and forth between two ranks, while two other ranks load the machine.

use bandgap_comm::{Comm, Part, Rank, Result};
use serde::{Deserialize, Serialize};

use super::pair::Pair;
use super::pair::PairRole::{Idle, Replier, Requester};
use crate::{
    AtSize, Content, Expects, Kernel, Look, Needs, OverComm, Places, Refused, Round, Samples, Seat,
    Series, Stamps, messages_in_range, ranks_at_least,
};

const TAG: u32 = 1;
/// Tag of the message that lets the echo begin.
const BEGIN: u32 = 2;

/// Column of the time in which the load flowed during the echo, measured by its receiver from the
/// moment at which it let the echo begin. Absent without a load.
pub const LOAD: &str = "load";

/// M round trips of a message of n bytes between two ranks, while K messages of c bytes go from a
/// third to a fourth: CoMet's echo with contention.
///
/// In CoMet the load never ends. Here its messages are counted beforehand, since no program may
/// depend on time. The leader chooses a number that outlasts the echo, and checks the column
/// [`LOAD`] for whether it did. All ranks meet before each sample. The load's receiver lets
/// the echo begin: after the first message of the load has arrived, so that the load flows by then,
/// or at once if there is no load. A round trip without bytes before the first mark makes sure that
/// both ends of the echo are ready.
///
/// Marks of the first rank, in each sample: begin, end, end. The same for the load's receiver, if
/// there is a load.
/// *Source*: CoMet, section 3.3.6, figure 3.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contention {
    /// The two ranks of the echo.
    pub echo: Pair,
    /// The two ranks of the load: sender and receiver.
    pub load: Pair,
    /// Round trips in a sample (M).
    pub messages: u32,
    /// Bytes of an echo message (n).
    pub bytes: usize,
    /// Messages of the load in a sample (K); 0 if there is no load.
    pub load_messages: u32,
    /// Bytes of a load message (c).
    pub load_bytes: usize,
}

/// Variants of the series: their names, and their loads in percent of the peak bandwidth that the
/// echo itself reaches with messages of the load's length.
pub const LOADS: [(&str, u32); 3] = [("idle", 0), ("50 % load", 50), ("90 % load", 90)];
const NAMES: &[&str] = &[LOADS[0].0, LOADS[1].0, LOADS[2].0];

impl Contention {
    /// The first `bytes` bytes of a place.
    fn cut(part: Part, bytes: usize) -> Part {
        Part::new(part.at, bytes)
    }
}

impl Kernel for Contention {
    const NAME: &'static str = "contention";
    const SERIES: &'static [Series] = &[Series {
        look: Look::Loads,
        parts: 2,
        variants: NAMES,
        ..Series::between_two("contention")
    }];

    /// Uses the first two other ranks for the load. Which messages make which load must be measured
    /// first; here half the load has messages of half the echo's length, and the higher load has
    /// messages of the full length.
    fn at(AtSize { size: bytes, messages, pair, ranks, variant, .. }: AtSize) -> Option<Self> {
        let mut others = (0..ranks.max(4)).filter(|rank| !pair.both().contains(rank));
        let load = Pair { requester: others.next()?, replier: others.next()? };
        let name = variant.unwrap_or(LOADS[0].0);
        let (_, percent) = LOADS.into_iter().find(|(known, _)| *known == name)?;
        let (load_messages, load_bytes) = match percent {
            0 => (0, 0),
            50 => (messages, bytes / 2),
            _ => (2 * messages, bytes),
        };
        Some(Self { echo: pair, load, messages, bytes, load_messages, load_bytes })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        messages_in_range(self.load_messages.max(1), self.load_bytes)?;
        ranks_at_least(4, size)?;
        self.echo.check(size)?;
        self.load.check(size)?;
        let (echo, load) = (self.echo.both(), self.load.both());
        Refused::unless(echo.iter().all(|rank| !load.contains(rank)), || {
            format!("the load's ranks {load:?} must differ from the echo's ranks {echo:?}")
        })
    }

    fn timed(&self, _size: usize) -> [Rank; 2] {
        self.echo.both()
    }

    fn needs(&self, _size: usize) -> Needs {
        let messages = self.messages.max(self.load_messages);
        Needs::both_ways(messages.into(), self.bytes.max(self.load_bytes))
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let Seat { rank, places, .. } = *seat;
        let mut expects = Expects::default();
        let sent = |source, to, message| Content::Sent { source, to, message };
        for i in 0..self.load_messages.into() {
            let cut = |place| Self::cut(place, self.load_bytes);
            match self.load.side(rank) {
                Requester { peer } => {
                    expects.fill(cut(places.outgoing(i)), sent(rank, peer, i));
                }
                Replier { peer } => {
                    expects.arrive(cut(places.incoming(i)), sent(peer, rank, i));
                }
                Idle => {}
            }
        }
        if let Some(peer) = self.echo.peer(rank) {
            let begin = Self::cut(places.incoming(0), 0);
            if rank == self.echo.requester {
                expects.arrive(begin, sent(self.load.replier, rank, 0));
            }
            expects.arrive(begin, sent(peer, rank, 0));
            for i in 0..self.messages.into() {
                let [out, into] = [places.outgoing(i), places.incoming(i)]
                    .map(|place| Self::cut(place, self.bytes));
                expects.fill(out, sent(rank, peer, i));
                expects.arrive(into, sent(peer, rank, i));
            }
        }
        expects
    }

    fn samples(&self, _size: usize, stamps: &Stamps) -> Samples {
        let echo = Samples::of_triples(stamps, self.echo.requester);
        match self.load_messages {
            1.. => echo.beside(LOAD, &Samples::of_triples(stamps, self.load.replier)),
            0 => echo,
        }
    }
}

impl OverComm for Contention {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        let (kernel, places, rank) = (*self, *places, comm.rank());
        let (messages, loads) = (u64::from(kernel.messages), u64::from(kernel.load_messages));
        let out = move |i| Self::cut(places.outgoing(i), kernel.bytes);
        let into = move |i| Self::cut(places.incoming(i), kernel.bytes);
        let begin = Self::cut(places.incoming(0), 0);
        for _ in 0..round.samples {
            comm.barrier()?;
            match (kernel.echo.side(rank), kernel.load.side(rank)) {
                (Requester { peer }, _) => {
                    comm.recv(kernel.load.replier, BEGIN, begin)?;
                    comm.send(peer, BEGIN, begin)?;
                    comm.recv(peer, BEGIN, begin)?;
                    comm.mark();
                    for i in 0..messages {
                        comm.send(peer, TAG, out(i))?;
                        comm.recv(peer, TAG, into(i))?;
                    }
                    comm.mark();
                    comm.mark();
                }
                (Replier { peer }, _) => {
                    comm.recv(peer, BEGIN, begin)?;
                    comm.send(peer, BEGIN, begin)?;
                    for i in 0..messages {
                        comm.recv(peer, TAG, into(i))?;
                        comm.send(peer, TAG, out(i))?;
                    }
                }
                (_, Requester { peer }) => {
                    for i in 0..loads {
                        comm.send(peer, TAG, Self::cut(places.outgoing(i), kernel.load_bytes))?;
                    }
                }
                (_, Replier { peer }) => {
                    let into = |i| Self::cut(places.incoming(i), kernel.load_bytes);
                    if loads > 0 {
                        comm.recv(peer, TAG, into(0))?;
                        comm.mark();
                    }
                    comm.send(kernel.echo.requester, BEGIN, begin)?;
                    for i in 1..loads {
                        comm.recv(peer, TAG, into(i))?;
                    }
                    if loads > 0 {
                        comm.mark();
                        comm.mark();
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

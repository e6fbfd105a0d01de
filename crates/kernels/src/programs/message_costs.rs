//! Costs of a message: the time of its sender, of its receiver, and of the interfaces between them.

use bandgap_comm::{Comm, Part, Result};
use serde::{Deserialize, Serialize};

use super::pair::Pair;
use super::pair::PairRole::{Idle, Replier, Requester};
use super::repeat::by_rank;
use crate::{
    AtSize, Content, Expects, Kernel, Look, Needs, OverComm, Places, Refused, Round, Seat, Series,
    messages_in_range,
};

const TAG: u32 = 1;
/// Tag of messages without bytes, which say that the other rank may go on.
const GO_ON: u32 = 2;

/// Which cost is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// os(n): the requester sends M messages.
    Send,
    /// or(n): the requester receives M messages that have already arrived.
    Receive,
    /// g(n): the requester receives M messages of a stream. In the terms of LogGP this is max(os,
    /// or, g, n·G).
    Gap,
}

const COSTS: [(&str, Cost); 3] =
    [("send", Cost::Send), ("receive", Cost::Receive), ("gap", Cost::Gap)];
const NAMES: &[&str] = &[COSTS[0].0, COSTS[1].0, COSTS[2].0];

/// Largest number of messages that [`Cost::Receive`] begins before it waits.
const MOST_BEGUN: usize = 16;

/// M messages of n bytes between two ranks. One of LogGP's costs is timed as a function of the
/// length: os, or, or the gap.
///
/// Marks of the requester, in each sample: begin, end, end. What happens between samples is not
/// timed.
/// *Assumes* that M messages fit at the receiver, so that a send does not wait for it, and that
/// messages between two ranks keep their order, so that the arrival of one implies that of all
/// before it. The time in which a processor moves the bytes is part of os or of or.
/// *Source*: "Assessing Fast Network Interfaces" for the send-only regime; Kielmann, Bal, Verstoep,
/// "Fast Measurement of LogP Parameters for Message Passing Platforms", 2000, for parameters that
/// depend on the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageCosts {
    /// The two ranks. The requester times.
    pub pair: Pair,
    /// Timed messages in a sample (M).
    pub messages: u32,
    /// Bytes of a message (n).
    pub bytes: usize,
    /// The cost that is timed.
    pub cost: Cost,
}

impl MessageCosts {
    /// Messages of n bytes in a sample. A stream has one more before the timed ones.
    fn all(&self) -> u64 {
        u64::from(self.messages) + u64::from(self.cost == Cost::Gap)
    }

    /// Messages without bytes that one side receives in a sample.
    fn go_ons(&self, is_requester: bool) -> u64 {
        match (self.cost, is_requester) {
            (Cost::Send | Cost::Receive, true) => 1,
            (Cost::Receive | Cost::Gap, false) => 1,
            _ => 0,
        }
    }
}

impl Kernel for MessageCosts {
    const NAME: &'static str = "message_costs";
    const SERIES: &'static [Series] = &[Series {
        look: Look::Details,
        variants: NAMES,
        moves: |_| 0,
        ..Series::between_two("message_costs")
    }];

    fn at(AtSize { size: bytes, messages, pair, variant, .. }: AtSize) -> Option<Self> {
        let name = variant.unwrap_or(NAMES[0]);
        let (_, cost) = COSTS.into_iter().find(|(known, _)| *known == name)?;
        Some(Self { pair, messages, bytes, cost })
    }

    fn check(&self, size: usize) -> Result<(), Refused> {
        messages_in_range(self.messages, self.bytes)?;
        let few = self.cost != Cost::Receive || self.messages as usize <= MOST_BEGUN;
        Refused::unless(few, || {
            let messages = self.messages;
            format!(
                "{messages} messages cannot all arrive before they are received (limit {MOST_BEGUN})"
            )
        })?;
        self.pair.check(size)
    }

    fn timed(&self, _size: usize) -> [bandgap_comm::Rank; 2] {
        self.pair.both()
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs::both_ways(self.all(), self.bytes)
    }

    fn expects(&self, seat: &Seat) -> Expects {
        let Seat { rank, places, .. } = *seat;
        let mut expects = Expects::default();
        let Some(peer) = self.pair.peer(rank) else { return expects };
        let is_requester = rank == self.pair.requester;
        for message in 0..self.all() {
            if is_requester == (self.cost == Cost::Send) {
                let content = Content::Sent { source: rank, to: peer, message };
                expects.fill(places.outgoing(message), content);
            } else {
                let content = Content::Sent { source: peer, to: rank, message };
                expects.arrive(places.incoming(message), content);
            }
        }
        for message in 0..self.go_ons(is_requester) {
            let content = Content::Sent { source: peer, to: rank, message };
            expects.arrive(nothing(&places), content);
        }
        expects
    }
}

impl OverComm for MessageCosts {
    #[inline(never)]
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<()> {
        let (places, samples, messages) = (*places, round.samples, self.messages);
        let (timer, nothing) = (self.pair.requester, nothing(&places));
        let (peer, times) = match self.pair.side(comm.rank()) {
            Requester { peer } => (peer, true),
            Replier { peer } => (peer, false),
            Idle => return Ok(()),
        };
        let one = |comm: &mut C| comm.recv(peer, GO_ON, nothing);
        for _ in 0..samples {
            match (self.cost, times) {
                (Cost::Send, true) => {
                    by_rank(comm, timer, 1, messages, |comm, i| {
                        comm.send(peer, TAG, places.outgoing(i))
                    })?;
                    one(comm)?;
                }
                (Cost::Send, false) => {
                    (0..messages.into())
                        .try_for_each(|i| comm.recv(peer, TAG, places.incoming(i)))?;
                    comm.send(peer, GO_ON, nothing)?;
                }
                (Cost::Receive, true) => {
                    comm.send(peer, GO_ON, nothing)?;
                    one(comm)?;
                    by_rank(comm, timer, 1, messages, |comm, i| {
                        comm.recv(peer, TAG, places.incoming(i))
                    })?;
                }
                (Cost::Receive, false) => {
                    one(comm)?;
                    let mut begun = [const { None }; MOST_BEGUN];
                    for (i, begun) in (0..messages.into()).zip(&mut begun) {
                        *begun = Some(comm.isend(peer, TAG, places.outgoing(i))?);
                    }
                    comm.send(peer, GO_ON, nothing)?;
                    begun.into_iter().flatten().try_for_each(|begun| comm.wait(begun))?;
                }
                (Cost::Gap, true) => {
                    comm.send(peer, GO_ON, nothing)?;
                    comm.recv(peer, TAG, places.incoming(0))?;
                    by_rank(comm, timer, 1, messages, |comm, i| {
                        comm.recv(peer, TAG, places.incoming(i + 1))
                    })?;
                }
                (Cost::Gap, false) => {
                    one(comm)?;
                    (0..=messages.into())
                        .try_for_each(|i| comm.send(peer, TAG, places.outgoing(i)))?;
                }
            }
        }
        Ok(())
    }
}

/// A part without bytes.
pub(super) fn nothing(places: &Places) -> Part {
    Part::new(places.scratch().at, 0)
}

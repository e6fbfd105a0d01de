//! The LogGP machine in virtual time: a deterministic replay of discrete events.
//!
//! What a message costs:
//!
//! * The sending processor is busy for os. Then the message is in the sender's interface, which
//!   sends one message per g, requests and replies in one order.
//! * L later it is at the receiver's interface, which accepts one message per g. A gap passes
//!   *between* messages: a single one never waits for it.
//! * There it stays until the processor handles it, which takes or, and os more if the handler
//!   replies.
//!
//! Sending and receiving have a gap each ("consecutive message transmissions or consecutive message
//! receptions at a processor", the paper, section LogP model). So a flood of requests with replies
//! costs g per request, and K requesters of one replier get one request per K·g each.
//!
//! A processor handles messages in order of arrival while it is in `serve`, in `await_replies`, and
//! in `request`. A request first handles what has arrived when it begins ("the Active Message Issue
//! Request function implicitly handles replies", section Communication microbenchmark), and then
//! goes on only until there is room toward its peer. While it computes a processor handles nothing.
//! A request without reply completes L after it was handled, at no cost for its sender's processor
//! or interface.
//!
//! A message of n bytes goes the same way, with the parameters of its length: it occupies both
//! interfaces for max(g, n·G), is whole L + n·G after it began to leave, and stays in the receiver's
//! interface until a receive takes it, which takes or. A send never waits: LogGP has no limit to
//! what waits at a receiver. Messages from one rank to another do not overtake one another, even
//! where L is less for the later one. A rank that sends, receives or is in a barrier handles no
//! Active Messages.
//!
//! A store is a request that costs what a message of its bytes does, and its reply is a short one. A
//! get is a request whose reply costs what a message of its bytes does: the peer's processor takes
//! part, as in a handler, but no `serve` counts it. A message is handled when its last byte is
//! there; those behind it wait. Stores, gets and requests from one rank to another do not overtake
//! one another; replies may.
//!
//! Where ranks are not all one hop apart, a message is under way for L + (hops − 1)·h, and takes a
//! circuit: it holds all channels of its route, and its sender's interface, for max(g, n·G) from when
//! the last of them is free; words alone hold the interface only. Messages ask for circuits when they are at the network, in order of
//! virtual time, and get them in that order where routes have a channel in common; of one time the
//! lowest rank is first. The completion of a request without reply holds no channels.
//!
//! Messages that come to one interface at one time are accepted in the order of their senders. So
//! nothing depends on how the simulation comes to an event.

mod buckets;
mod circuits;
mod clock;
mod event;
mod heap;
mod mail;
pub(crate) mod trace;
mod world;

use crate::error::Result;
use crate::{Machine, Schedule, SimError, Wait};
use buckets::Buckets;
use clock::Clock;
pub(crate) use clock::{Plain, Step, Time};
use event::Queue;
use heap::Heap;
use world::World;

/// What happened in virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// For each rank its time stamps in picoseconds.
    pub marks: Vec<Vec<u64>>,
    /// For each rank the time in picoseconds at which its program ended.
    pub ends: Vec<u64>,
    /// Messages sent: requests, replies, and messages of bytes.
    pub messages: u64,
    /// Those of them that their receiver neither handled nor received before its program ended.
    pub unhandled: u64,
    /// Operations done and messages handled.
    pub events: u64,
}

/// Latest time: half of what the counter holds. Times saturate, so that every later one is noticed.
const LATEST: u64 = u64::MAX / 2;

/// Runs `schedule` on `machine`. All ranks begin at time 0.
///
/// # Errors
/// The machine has fewer ranks, or bytes are moved and its file does not say what they cost; the
/// ranks wait for each other for ever; a message has another length than its receive; or virtual
/// time is exhausted.
pub fn replay(schedule: &Schedule, machine: &Machine) -> Result<Replay> {
    Ok(replay_by(Plain, schedule, machine)?.0)
}

/// As [`replay`], by a clock, which is returned with the times at which ranks ended.
pub(crate) fn replay_by<C: Clock>(clock: C, schedule: &Schedule, machine: &Machine) -> Done<C> {
    let ranks = schedule.size();
    if ranks == 0 || ranks > machine.ranks {
        let (machine, most) = (machine.name.clone(), machine.ranks);
        return Err(SimError::Ranks(ranks, machine, most));
    }
    if schedule.moves_bytes() && machine.protocols.is_empty() {
        return Err(SimError::NoTimeForBytes(machine.name.clone()));
    }
    match machine.least_delay() {
        0 => {
            let mut world = World::new(schedule, machine, Heap::default(), clock);
            world.in_order()?;
            finish(world)
        }
        width => {
            let mut world = World::new(schedule, machine, Buckets::new(width, ranks), clock);
            world.in_buckets()?;
            finish(world)
        }
    }
}

type Done<C> = Result<(Replay, Vec<<C as Clock>::At>, C)>;

fn finish<C: Clock, Q: Queue<C::At>>(mut world: World<'_, Q, C>) -> Done<C> {
    let ranks = 0..world.ranks.len();
    let wait = |rank| Some(Wait { rank, what: world.waits_for(rank as u32)? });
    let waits: Vec<Wait> = ranks.filter_map(wait).collect();
    if !waits.is_empty() {
        return Err(SimError::Deadlock(waits));
    }
    let ends: Vec<C::At> = world.ranks.iter().map(|rank| rank.now).collect();
    if let Some(rank) = ends.iter().position(|end| end.picoseconds() > LATEST) {
        return Err(SimError::TooLong(rank));
    }
    let replay = Replay {
        messages: world.sent,
        unhandled: world.unhandled(),
        events: world.steps,
        ends: ends.iter().map(|end| end.picoseconds()).collect(),
        marks: world.marks,
    };
    Ok((replay, ends, world.clock))
}

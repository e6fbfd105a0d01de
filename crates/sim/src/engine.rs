//! The LogGP machine in virtual time: a deterministic replay by discrete events.
//!
//! Costs of a message:
//!
//! * The sending processor is busy for os. Then the message is in the sender's interface, which
//!   sends one message per g, requests and replies in one order.
//! * L later it is at the receiver's interface, which accepts one message per g. A gap passes
//!   *between* messages: a single message never waits for it.
//! * It stays there until the processor handles it, which takes or, and os more if the handler
//!   replies.
//!
//! Sending and receiving have one gap each ("consecutive message transmissions or consecutive
//! message receptions at a processor", the paper, section LogP model). So a flood of requests with
//! replies costs g per request, and each of K requesters of one replier gets one request through
//! per K·g.
//!
//! A processor handles messages in order of arrival while it is in `serve`, `await_replies` or
//! `request`. A request first handles what has arrived when it begins ("the Active Message Issue
//! Request function implicitly handles replies", section Communication microbenchmark), and then
//! continues only until there is room for its peer. A processor that computes handles nothing. A
//! request without a reply completes L after it was handled, at no cost for its sender's processor
//! or interface.
//!
//! A message of n bytes takes the same way, with the parameters of its length: it occupies both
//! interfaces for max(g, n·G), is complete L + n·G after it began to leave, and stays in the
//! receiver's interface until a receive takes it, which takes or. A send never waits: LogGP has no
//! limit for messages that wait at a receiver. Messages between two ranks do not overtake one
//! another, even if L is less for the later one. A rank that sends, receives or is in a barrier
//! handles no Active Messages.
//!
//! A store is a request that costs as much as a message of its bytes, and its reply is a short one.
//! A get is a request whose reply costs as much as a message of its bytes: the peer's processor
//! takes part, as in a handler, but no `serve` counts it. A message is handled when its last byte
//! has arrived; those behind it wait. Stores, gets and requests between two ranks do not overtake
//! one another; replies may.
//!
//! Where bytes keep the sending processor busy, os grows with them; a protocol may have a gap of its
//! own; and where turning a request into a reply is the bottleneck, an interface sends one reply per
//! turnaround.
//!
//! If ranks are not all one hop apart, a message travels for L + (hops − 1)·h and takes a circuit:
//! it holds all channels of its route, and its sender's interface, for max(g, n·G) from the moment
//! at which the last of them is free; a message of words holds only the interface. Messages ask for
//! circuits when they reach the network, in order of virtual time, and those whose routes share a
//! channel get them in that order; at equal times the lowest rank is first. The completion of a
//! request without a reply holds no channels.
//!
//! Messages that reach an interface at the same time are accepted in the order of their senders. So
//! nothing depends on the order in which the simulation processes events.

mod buckets;
mod circuits;
mod clock;
mod event;
mod heap;
mod mail;
pub(crate) mod trace;
mod world;

use bandgap_comm::Rank;

use crate::error::Result;
use crate::{Machine, Schedule, SimError, Wait};
use buckets::Buckets;
use clock::Clock;
pub(crate) use clock::{Plain, Step, Time};
use event::Queue;
use heap::Heap;
use world::World;

/// Result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Time stamps of each rank, in picoseconds.
    pub marks: Vec<Vec<u64>>,
    /// Time at which each rank's program ended, in picoseconds.
    pub ends: Vec<u64>,
    /// Messages sent: requests, replies, and messages of bytes.
    pub messages: u64,
    /// Messages that their receiver neither handled nor received before its program ended.
    pub unhandled: u64,
    /// Number of operations done and messages handled.
    pub events: u64,
}

/// Latest time: half of the counter's range. Times saturate, so every later time is noticed.
const LATEST: u64 = u64::MAX / 2;

/// Runs `schedule` on `machine`. All ranks begin at time 0.
///
/// # Errors
/// The machine has fewer ranks; bytes are moved, but the machine's file does not say what they
/// cost; ranks wait for each other for ever; a message and its receive differ in length; or virtual
/// time is exhausted.
pub fn replay(schedule: &Schedule, machine: &Machine) -> Result<Replay> {
    Ok(replay_by(Plain, schedule, machine)?.0)
}

/// As [`replay`], but stops as soon as it is certain that `rank` ends later than at `last`
/// picoseconds.
///
/// # Errors
/// As [`replay`]; [`SimError::Late`] if the rank ends later.
pub fn replay_until(
    schedule: &Schedule,
    machine: &Machine,
    rank: Rank,
    last: u64,
) -> Result<Replay> {
    Ok(replay_within(Plain, schedule, machine, (rank as u32, last))?.0)
}

/// As [`replay`], with a given clock, which is returned together with the times at which ranks
/// ended.
pub(crate) fn replay_by<C: Clock>(clock: C, schedule: &Schedule, machine: &Machine) -> Done<C> {
    replay_within(clock, schedule, machine, (0, u64::MAX))
}

/// As [`replay_by`], until a rank is later than a time.
fn replay_within<C: Clock>(
    clock: C,
    schedule: &Schedule,
    machine: &Machine,
    until: (u32, u64),
) -> Done<C> {
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
            let mut world = World::new(schedule, machine, Heap::default(), clock, until);
            world.in_order()?;
            finish(world)
        }
        width => {
            let buckets = Buckets::new(width, ranks);
            let mut world = World::new(schedule, machine, buckets, clock, until);
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

//! Replay of a schedule with the arithmetic of LogGOPSim (spcl/LogGOPSim 76451de), to the
//! nanosecond.
//!
//! A rank has processors and interfaces, each free from some time on, posted receives, and messages
//! that arrived before their receives. With s bytes and b = s − 1:
//!
//! * An operation is ready when all that it requires has ended and all that it irequires has begun.
//!   Operations that become ready in the same step begin in the order sends, receives,
//!   computations, each in the order in which their dependencies are given; not before the
//!   processor is free, and a send not before its interface is free.
//! * A computation occupies its processor.
//! * A send occupies the processor for o + b·O and the interface for g + b·G; its first byte
//!   arrives o + L after it began. A send of at most S bytes has then ended; a longer one ends when
//!   it is matched.
//! * A message waits at the receiver for the processor and the interface with the sender's numbers,
//!   and occupies them for o + b·max(G, O) and g + b·G, whether a receive is posted or not. Then it
//!   is matched.
//! * A receive takes no time. The match of a message of more than S bytes keeps the sender's
//!   processor and interface occupied until then.
//!
//! Events are processed by time, and then in the order in which they were created. An event whose
//! resources are occupied keeps its order. It is not retried again and again: events that wait for
//! the same resources of a rank share one turn among the events. LogGOPSim sorts ready operations
//! without keeping their order if there are more than 16; here the order is kept.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::clock::Clock;
use super::error::{GoalError, Result};
use super::loggops::{Loggops, Step};
use super::matching::{Ambiguous, Letter, fits, found, stuck};
use super::schedule::{ANY_PEER, Goal, Operation, Verb};

/// Result of a replay.
pub(super) struct Replayed<C: Clock> {
    /// Time at which each rank with operations ends: when the last of its processors is free.
    pub finish: Vec<(u32, C::At)>,
    /// Number of messages sent.
    pub messages: u64,
    /// Receives that another message would have matched too.
    pub ambiguous: Ambiguous,
    /// The clock, with what it has recorded.
    pub clock: C,
}

/// Latest time: half of the counter's range.
const LATEST: i64 = i64::MAX / 2;

/// An event, or the turn of events that wait for the same resources: its time; four times its order
/// plus the flags below; its operation, and the operation's rank.
type Event<T> = (T, u64, u32, u32);

/// Flag of an order: the event is the arrival of the operation's message.
const MESSAGE: u64 = 1;
/// Flag of an order: the event is a turn.
const TURN: u64 = 2;

/// Resources that an event waits for: a rank's processor and, unless it computes, its interface.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Lane {
    rank: u32,
    cpu: u8,
    nic: Option<(Way, u8)>,
}

/// Direction in which an interface is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Out,
    In,
}

/// Events that wait for the same resources, by order, and the turn of the first one.
struct Waiting<T> {
    lane: Lane,
    all: BinaryHeap<Reverse<(u64, u32, u32)>>,
    turn: Option<(T, u64)>,
}

/// Queues of a rank.
#[derive(Default)]
struct Rank<T> {
    posted: VecDeque<Letter>,
    unexpected: VecDeque<Letter>,
    /// Messages on their way to the rank, if some receive accepts any rank.
    flying: VecDeque<Letter>,
    waiting: Vec<Waiting<T>>,
}

struct Engine<'a, C: Clock> {
    goal: &'a Goal,
    clock: C,
    eager: u64,
    needs: Vec<u32>,
    cpus: Vec<C::At>,
    /// Interfaces, by direction.
    nics: [Vec<C::At>; 2],
    ranks: Vec<Rank<C::At>>,
    events: BinaryHeap<Reverse<Event<C::At>>>,
    order: u64,
    ready: Vec<(u32, Verb, u32)>,
    messages: u64,
    /// Whether some receive accepts any rank.
    has_any: bool,
    ambiguous: Ambiguous,
}

/// Replays a schedule.
///
/// # Errors
/// The schedule cannot end, or takes too long.
pub(super) fn replay<C: Clock>(goal: &Goal, loggops: &Loggops, clock: C) -> Result<Replayed<C>> {
    let size = goal.ranks.len();
    let free = |count: usize| vec![C::At::default(); size * count];
    let mut engine = Engine {
        goal,
        clock,
        eager: loggops.eager,
        needs: goal.needs.clone(),
        cpus: free(goal.cpus),
        nics: [free(goal.nics), free(goal.nics)],
        ranks: std::iter::repeat_with(Rank::default).take(size).collect(),
        events: BinaryHeap::new(),
        order: goal.needs.iter().filter(|needs| **needs == 0).count() as u64,
        ready: Vec::new(),
        messages: 0,
        has_any: goal.operations.iter().any(|of| of.peer == ANY_PEER && of.verb == Verb::Receive),
        ambiguous: Ambiguous::default(),
    };
    engine.run()?;
    let Engine { needs, cpus, ranks, mut clock, messages, ambiguous, .. } = engine;
    if ranks.iter().any(|rank| !rank.posted.is_empty() || !rank.unexpected.is_empty())
        || needs.iter().any(|needs| *needs > 0)
    {
        let queues = ranks.into_iter().map(|rank| (rank.posted, rank.unexpected)).collect();
        return Err(stuck(goal, &needs, queues));
    }
    let latest = |cpus: &[C::At]| {
        cpus.iter().fold(cpus[0], |latest, at| {
            clock.meet(latest, *at);
            latest.max(*at)
        })
    };
    let ends = cpus.chunks_exact(goal.cpus).map(latest);
    let finish: Vec<(u32, C::At)> = goal.active().zip(ends).collect();
    match finish.iter().find(|end| end.1.into() > LATEST) {
        Some((rank, _)) => Err(GoalError::TooLong(*rank)),
        None => Ok(Replayed { finish, messages, ambiguous, clock }),
    }
}

impl<C: Clock> Engine<'_, C> {
    fn run(&mut self) -> Result {
        // Operations ready at the beginning come first, whatever follows from them, so they need no
        // events.
        let (mut order, mut begun) = (0, Vec::new());
        for (rank, range) in self.goal.ranks.iter().cloned() {
            begun.extend(range.filter(|at| self.goal.needs[*at as usize] == 0));
            begun.sort_by_key(|at| self.operation(*at).verb);
            for operation in begun.drain(..) {
                self.happen((C::At::default(), order, operation, rank));
                order += 4;
            }
        }
        while let Some(Reverse(event)) = self.events.pop() {
            self.clock.follow(event.0);
            if event.0.into() > LATEST {
                return Err(GoalError::TooLong(event.3));
            }
            match event.1 & TURN {
                0 => self.happen(event),
                _ => self.turn(event),
            }
        }
        Ok(())
    }

    fn operation(&self, at: u32) -> Operation {
        self.goal.operations[at as usize]
    }

    /// Creates an event, after all others of the same time.
    fn push(&mut self, time: C::At, operation: u32, rank: u32, flag: u64) {
        self.events.push(Reverse((time, 4 * self.order + flag, operation, rank)));
        self.order += 1;
    }

    /// Resources of an operation or a message. A receive needs none, but begins when the processor
    /// is free.
    fn lane(&self, &(_, order, operation, rank): &Event<C::At>) -> Lane {
        let Operation { peer, verb, cpu, nic, .. } = self.operation(operation);
        match (order & MESSAGE, verb) {
            (MESSAGE, _) => Lane { rank: peer, cpu, nic: Some((Way::In, nic)) },
            (_, Verb::Send) => Lane { rank, cpu, nic: Some((Way::Out, nic)) },
            _ => Lane { rank, cpu, nic: None },
        }
    }

    /// Queues of a rank.
    fn queues(&mut self, rank: u32) -> &mut Rank<C::At> {
        &mut self.ranks[self.goal.place_of(rank as usize)]
    }

    /// Indices of a rank's processor and interface.
    fn places(&self, rank: u32, cpu: u8, nic: u8) -> (usize, usize) {
        let rank = self.goal.place_of(rank as usize);
        let place = |each: usize, at: u8| rank * each + usize::from(at);
        (place(self.goal.cpus, cpu), place(self.goal.nics, nic))
    }

    /// Time from which resources are free.
    fn free(&mut self, lane: Lane) -> C::At {
        let (way, nic) = lane.nic.unzip();
        let (cpu, nic) = self.places(lane.rank, lane.cpu, nic.unwrap_or(0));
        way.map_or(self.cpus[cpu], |way| self.latest(self.cpus[cpu], self.nics[way as usize][nic]))
    }

    /// The later of two times.
    fn latest(&mut self, one: C::At, other: C::At) -> C::At {
        self.clock.meet(one, other);
        one.max(other)
    }

    /// Processes an event: it begins, or waits for its resources.
    fn happen(&mut self, event: Event<C::At>) {
        let (time, order, operation, rank) = event;
        if order & MESSAGE == 0 && self.operation(operation).verb == Verb::Receive {
            return self.receive(event);
        }
        let lane = self.lane(&event);
        let free = self.free(lane);
        self.clock.meet(free, time);
        if free <= time {
            return self.begin(event);
        }
        let all = &mut self.queues(lane.rank).waiting;
        let at = all.iter().position(|waiting| waiting.lane == lane).unwrap_or_else(|| {
            all.push(Waiting { lane, all: BinaryHeap::new(), turn: None });
            all.len() - 1
        });
        all[at].all.push(Reverse((order, operation, rank)));
        // An earlier turn will find this event too.
        if all[at].turn.is_none_or(|turn| (free, order) < turn) {
            all[at].turn = Some((free, order));
            self.events.push(Reverse((free, order | TURN, operation, rank)));
        }
    }

    /// Processes the turn of events that wait for the same resources: the first one begins if they
    /// are free now.
    fn turn(&mut self, (time, order, operation, rank): Event<C::At>) {
        let event = (time, order & !TURN, operation, rank);
        let lane = self.lane(&event);
        let of = &mut self.queues(lane.rank).waiting;
        let turn = Some((time, event.1));
        let Some(at) = of.iter().position(|of| of.lane == lane && of.turn == turn) else { return };
        let free = self.free(lane);
        self.clock.meet(free, time);
        if free <= time {
            self.queues(lane.rank).waiting[at].all.pop();
            self.begin(event);
        }
        let free = self.free(lane);
        let time = self.latest(free, time);
        let waiting = &mut self.queues(lane.rank).waiting[at];
        let next = waiting.all.peek().map(|next| next.0);
        waiting.turn = next.map(|(order, ..)| (time, order));
        self.events.extend(next.map(|(order, at, rank)| Reverse((time, order | TURN, at, rank))));
    }

    /// Begins a computation, a send or the reception of a message, whose resources are free.
    fn begin(&mut self, event: Event<C::At>) {
        let (time, order, at, rank) = event;
        let Operation { size, verb, cpu, nic, tag, peer } = self.operation(at);
        let (cpu, nic) = self.places(rank, cpu, nic);
        if order & MESSAGE != 0 {
            return self.arrive(event);
        }
        self.release(rank, at, true);
        if verb == Verb::Compute {
            self.cpus[cpu] = self.clock.compute(time, at, (size as i64).saturating_mul(1000));
            self.release(rank, at, false);
        } else {
            let steps = [Step::Sending, Step::Passing, Step::Flight];
            let [sent, passed, arrival] = self.clock.steps(time, (at, size), steps);
            (self.cpus[cpu], self.nics[Way::Out as usize][nic]) = (sent, passed);
            self.messages += 1;
            self.push(arrival, at, rank, MESSAGE);
            if self.has_any {
                let flying = &mut self.queues(peer).flying;
                flying.push_back(Letter { tag, peer: rank, operation: at });
            }
            if size <= self.eager {
                self.release(rank, at, false);
            }
        }
        self.flush();
    }

    /// Receives a message at its destination.
    fn arrive(&mut self, (time, _, at, sender): Event<C::At>) {
        let Operation { size, tag, peer: rank, cpu, nic, .. } = self.operation(at);
        let (own, interface) = self.places(rank, cpu, nic);
        let [taken, passed] = self.clock.steps(time, (at, size), [Step::Taking, Step::Passing]);
        (self.cpus[own], self.nics[Way::In as usize][interface]) = (taken, passed);
        let queues = self.queues(rank);
        if let Some(of) = queues.flying.iter().position(|of| of.operation == at) {
            queues.flying.remove(of);
        }
        match found(&mut queues.posted, sender, tag) {
            Some((before, receive)) => {
                self.compare(rank, (&receive, before), sender);
                if size > self.eager {
                    self.release(sender, at, false);
                    self.hold(sender, (cpu, nic), time);
                }
                self.release(rank, receive.operation, false);
                self.flush();
            }
            None => queues.unexpected.push_back(Letter { tag, peer: sender, operation: at }),
        }
    }

    /// Posts a receive.
    fn receive(&mut self, (time, _, at, rank): Event<C::At>) {
        let Operation { size, tag, peer, cpu, nic, .. } = self.operation(at);
        self.release(rank, at, true);
        let queues = self.queues(rank);
        match found(&mut queues.unexpected, peer, tag) {
            Some((_, Letter { peer: sender, operation: message, .. })) => {
                let before = queues.posted.len();
                self.compare(rank, (&Letter { tag, peer, operation: at }, before), sender);
                // The receive's length decides; a send that has already ended does not end again.
                if size > self.eager {
                    if self.operation(message).size > self.eager {
                        self.release(sender, message, false);
                    }
                    self.hold(sender, (cpu, nic), time);
                }
                self.release(rank, at, false);
            }
            None => queues.posted.push_back(Letter { tag, peer, operation: at }),
        }
        self.flush();
    }

    /// Counts a receive from any rank as ambiguous if it could also have matched a message of
    /// another rank that no receive posted before it takes.
    fn compare(&mut self, rank: u32, (receive, before): (&Letter, usize), sender: u32) {
        if receive.peer != ANY_PEER {
            return;
        }
        let Rank { unexpected, flying, posted, .. } = self.queues(rank);
        let has_other =
            |of: &Letter| posted.iter().take(before).any(|it| fits(it, of.peer, of.tag));
        let mut others = unexpected.iter().chain(&*flying).filter(|of| of.peer != sender);
        if others.any(|of| fits(receive, of.peer, of.tag) && !has_other(of)) {
            self.ambiguous.count += 1;
            let place = self.goal.place(rank, receive.operation);
            self.ambiguous.first.get_or_insert(place);
        }
    }

    /// Keeps a sender's resources occupied until `time`.
    fn hold(&mut self, rank: u32, (cpu, nic): (u8, u8), time: C::At) {
        let (cpu, nic) = self.places(rank, cpu, nic);
        self.cpus[cpu] = self.latest(self.cpus[cpu], time);
        let out = self.nics[Way::Out as usize][nic];
        self.nics[Way::Out as usize][nic] = self.latest(out, time);
    }

    /// Notes that an operation has begun, or ended.
    fn release(&mut self, rank: u32, operation: u32, start: bool) {
        let goal = self.goal;
        for (after, _) in goal.dependents(operation).filter(|(_, of)| *of == start) {
            let needs = &mut self.needs[after as usize];
            *needs -= 1;
            if *needs == 0 {
                self.ready.push((rank, goal.operations[after as usize].verb, after));
            }
        }
    }

    /// Creates events for the operations that have become ready.
    fn flush(&mut self) {
        if self.ready.is_empty() {
            return;
        }
        let mut ready = std::mem::take(&mut self.ready);
        ready.sort_by_key(|&(rank, verb, _)| (rank, verb));
        for (rank, _, at) in ready.drain(..) {
            let lane = self.lane(&(C::At::default(), 0, at, rank));
            let free = self.free(lane);
            self.push(free, at, rank, 0);
        }
        self.ready = ready;
    }
}

//! The replay of a schedule with the arithmetic of LogGOPSim (spcl/LogGOPSim 76451de), to the nanosecond.
//!
//! A rank has processors and interfaces, each free from a time on, receives that are posted, and messages that came
//! before theirs. With s bytes, b = s − 1:
//!
//! * An operation is ready when all that it requires are done, and all that it irequires have begun. What becomes
//!   ready in one step begins with sends, then receives, then computations, each in the order in which their
//!   dependencies are said: not before the processor is free, a send not before its interface either.
//! * A computation takes its processor.
//! * A send takes o + b·O of the processor and g + b·G of the interface; the first byte arrives o + L after it began.
//!   One of at most S bytes is then done, a longer one when it is matched.
//! * A message waits at the receiver for the processor and the interface with the sender's numbers, and takes
//!   o + b·max(G, O) and g + b·G of them, whether a receive is posted or not. Then it is matched.
//! * A receive takes no time. The match of a message of more than S bytes does not leave the sender's processor and
//!   interface free before itself.
//!
//! Events go by time and by the order in which they were made. What finds its resources taken keeps its order. Here it
//! is not tried again and again: what waits for the same resources of a rank has one turn among the events.
//! LogGOPSim sorts what is ready without keeping the order where it is more than 16; here it is kept.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::clock::Clock;
use super::error::GoalError;
use super::loggops::{Loggops, Step};
use super::schedule::{ANY_PEER, ANY_TAG, Goal, Operation, Verb};
use super::stuck::{self, Letter};

/// What came of a replay.
pub(super) struct Replayed<C: Clock> {
    /// When each rank ends: the latest of its processors.
    pub finish: Vec<C::At>,
    /// Messages sent.
    pub messages: u64,
    /// The clock, with what it has seen.
    pub clock: C,
}

/// Latest time: half of what the counter holds.
const LATEST: i64 = i64::MAX / 2;

/// An event, or the turn of those that wait for the same resources.
#[derive(Clone, Copy)]
struct Event<T> {
    time: T,
    /// Four times its order, and the flags below.
    order: u64,
    operation: u32,
    /// The operation's rank.
    rank: u32,
}

/// Flag of an order: it is the message that the operation sent.
const MESSAGE: u64 = 1;
/// Flag of an order: it is a turn.
const TURN: u64 = 2;

impl<T: Ord> PartialEq for Event<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: Ord> Eq for Event<T> {}

impl<T: Ord> PartialOrd for Event<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> Ord for Event<T> {
    /// The greatest is the next.
    fn cmp(&self, other: &Self) -> Ordering {
        other.time.cmp(&self.time).then(other.order.cmp(&self.order))
    }
}

/// Resources of a rank that something waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Lane {
    rank: u32,
    cpu: u8,
    nic: u8,
    way: Way,
}

/// In which direction an interface is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Nowhere,
    Out,
    In,
}

/// What waits for the same resources, and when the first of it has its turn.
struct Waiting<T> {
    lane: Lane,
    all: BinaryHeap<Reverse<(u64, u32, u32)>>,
    turn: Option<(T, u64)>,
}

/// The queues of a rank.
struct Rank<T> {
    posted: VecDeque<Letter>,
    unexpected: VecDeque<Letter>,
    waiting: Vec<Waiting<T>>,
}

struct Engine<'a, C: Clock> {
    goal: &'a Goal,
    clock: C,
    eager: u64,
    needs: Vec<u32>,
    cpus: Vec<C::At>,
    outs: Vec<C::At>,
    ins: Vec<C::At>,
    ranks: Vec<Rank<C::At>>,
    events: BinaryHeap<Event<C::At>>,
    order: u64,
    ready: Vec<(u32, Verb, u32)>,
    messages: u64,
}

/// Replays a schedule.
///
/// # Errors
/// It cannot end, or takes too long.
pub(super) fn replay<C: Clock>(
    goal: &Goal,
    loggops: &Loggops,
    clock: C,
) -> Result<Replayed<C>, GoalError> {
    let size = goal.size();
    let queues =
        || Rank { posted: VecDeque::new(), unexpected: VecDeque::new(), waiting: Vec::new() };
    let mut engine = Engine {
        goal,
        clock,
        eager: loggops.eager,
        needs: goal.needs.clone(),
        cpus: vec![C::At::default(); size * goal.cpus],
        outs: vec![C::At::default(); size * goal.nics],
        ins: vec![C::At::default(); size * goal.nics],
        ranks: std::iter::repeat_with(queues).take(size).collect(),
        events: BinaryHeap::new(),
        order: goal.needs.iter().filter(|needs| **needs == 0).count() as u64,
        ready: Vec::new(),
        messages: 0,
    };
    engine.run()?;
    let Engine { needs, cpus, ranks, clock, messages, .. } = engine;
    if ranks.iter().any(|rank| !rank.posted.is_empty() || !rank.unexpected.is_empty())
        || needs.iter().any(|needs| *needs > 0)
    {
        let queues = ranks.into_iter().map(|rank| (rank.posted, rank.unexpected)).collect();
        return Err(stuck::reason(goal, &needs, queues));
    }
    let latest = |cpus: &[C::At]| cpus.iter().copied().max().unwrap_or_default();
    let finish: Vec<C::At> = cpus.chunks_exact(goal.cpus).map(latest).collect();
    if let Some(rank) = finish.iter().position(|at| C::picoseconds(*at) > LATEST) {
        return Err(GoalError::TooLong(rank as u32));
    }
    Ok(Replayed { finish, messages, clock })
}

impl<C: Clock> Engine<'_, C> {
    fn run(&mut self) -> Result<(), GoalError> {
        // What is ready at the beginning is first, whatever it leads to: it needs no place among the events.
        let mut first = 0;
        let mut begun: Vec<u32> = Vec::new();
        for rank in 0..self.goal.size() {
            begun.clear();
            begun.extend(self.goal.range(rank).filter(|at| self.goal.needs[*at as usize] == 0));
            begun.sort_by_key(|at| self.operation(*at).verb);
            for &operation in &begun {
                let (time, rank) = (C::At::default(), rank as u32);
                self.happen(Event { time, order: 4 * first, operation, rank });
                first += 1;
            }
        }
        while let Some(event) = self.events.pop() {
            if C::picoseconds(event.time) > LATEST {
                return Err(GoalError::TooLong(event.rank));
            }
            match event.order & TURN {
                0 => self.happen(event),
                _ => self.turn(event),
            }
        }
        Ok(())
    }

    fn operation(&self, at: u32) -> Operation {
        self.goal.operations[at as usize]
    }

    /// Makes an event, behind all others of its time.
    fn push(&mut self, time: C::At, (rank, operation): (u32, u32), flag: u64) {
        let order = 4 * self.order + flag;
        self.order += 1;
        self.events.push(Event { time, order, operation, rank });
    }

    /// What an operation or a message needs; nothing for a receive.
    fn lane(&self, event: &Event<C::At>) -> Option<Lane> {
        let Operation { peer, verb, cpu, nic, .. } = self.operation(event.operation);
        let (rank, way) = match (event.order & MESSAGE, verb) {
            (MESSAGE, _) => (peer, Way::In),
            (_, Verb::Send) => (event.rank, Way::Out),
            (_, Verb::Compute) => {
                return Some(Lane { rank: event.rank, cpu, nic: 0, way: Way::Nowhere });
            }
            (_, Verb::Receive) => return None,
        };
        Some(Lane { rank, cpu, nic, way })
    }

    fn cpu(&self, rank: u32, cpu: u8) -> usize {
        rank as usize * self.goal.cpus + usize::from(cpu)
    }

    fn nic(&self, rank: u32, nic: u8) -> usize {
        rank as usize * self.goal.nics + usize::from(nic)
    }

    /// From when on resources are free.
    fn free(&self, lane: Lane) -> C::At {
        let cpu = self.cpus[self.cpu(lane.rank, lane.cpu)];
        let nic = self.nic(lane.rank, lane.nic);
        match lane.way {
            Way::Nowhere => cpu,
            Way::Out => cpu.max(self.outs[nic]),
            Way::In => cpu.max(self.ins[nic]),
        }
    }

    /// An event: it happens, or waits for its resources.
    fn happen(&mut self, event: Event<C::At>) {
        let Some(lane) = self.lane(&event) else { return self.receive(&event) };
        let free = self.free(lane);
        if free <= event.time {
            return self.begin(&event);
        }
        let (order, rank) = (event.order, &mut self.ranks[lane.rank as usize]);
        let at = rank.waiting.iter().position(|waiting| waiting.lane == lane);
        let at = at.unwrap_or_else(|| {
            rank.waiting.push(Waiting { lane, all: BinaryHeap::new(), turn: None });
            rank.waiting.len() - 1
        });
        let waiting = &mut rank.waiting[at];
        waiting.all.push(Reverse((order, event.operation, event.rank)));
        // An earlier turn finds this one too.
        if waiting.turn.is_none_or(|turn| (free, order) < turn) {
            waiting.turn = Some((free, order));
            self.events.push(Event { time: free, order: order | TURN, ..event });
        }
    }

    /// The turn of what waits for the same resources as this: its first one happens if they are free now.
    fn turn(&mut self, event: Event<C::At>) {
        let event = Event { order: event.order & !TURN, ..event };
        let Some(lane) = self.lane(&event) else { return };
        let of = &mut self.ranks[lane.rank as usize].waiting;
        let Some(at) = of.iter().position(|waiting| waiting.lane == lane) else { return };
        if of[at].turn != Some((event.time, event.order)) {
            return;
        }
        if self.free(lane) <= event.time {
            self.ranks[lane.rank as usize].waiting[at].all.pop();
            self.begin(&event);
        }
        let time = self.free(lane).max(event.time);
        let waiting = &mut self.ranks[lane.rank as usize].waiting[at];
        let next = waiting.all.peek().copied();
        waiting.turn = next.map(|Reverse((order, ..))| (time, order));
        if let Some(Reverse((order, operation, rank))) = next {
            self.events.push(Event { time, order: order | TURN, operation, rank });
        }
    }

    /// A computation, a send or a message begins: its resources are free.
    fn begin(&mut self, event: &Event<C::At>) {
        let &Event { time, operation: at, rank, .. } = event;
        let operation = self.operation(at);
        let Operation { size, peer, verb, cpu, nic, .. } = operation;
        if event.order & MESSAGE != 0 {
            return self.arrive(event, &operation);
        }
        let cpu = self.cpu(rank, cpu);
        if verb == Verb::Compute {
            let picoseconds = i64::try_from(size).unwrap_or(i64::MAX).saturating_mul(1000);
            self.cpus[cpu] = self.clock.compute(time, at, picoseconds);
            self.release(rank, at, true);
            self.release(rank, at, false);
            return self.flush();
        }
        debug_assert!(verb == Verb::Send && peer != ANY_PEER);
        let nic = self.nic(rank, nic);
        let steps = [Step::Sending, Step::Passing, Step::Flight];
        let [sent, passed, arrival] = self.clock.steps(time, at, size, steps);
        (self.cpus[cpu], self.outs[nic]) = (sent, passed);
        self.messages += 1;
        self.release(rank, at, true);
        self.push(arrival, (rank, at), MESSAGE);
        if size <= self.eager {
            self.release(rank, at, false);
        }
        self.flush();
    }

    /// A message is taken at its receiver.
    fn arrive(&mut self, event: &Event<C::At>, message: &Operation) {
        let &Event { time, operation: at, rank: sender, .. } = event;
        let &Operation { size, tag, peer: rank, cpu, nic, .. } = message;
        let (own, interface) = (self.cpu(rank, cpu), self.nic(rank, nic));
        let [taken, passed] = self.clock.steps(time, at, size, [Step::Taking, Step::Passing]);
        (self.cpus[own], self.ins[interface]) = (taken, passed);
        let queues = &mut self.ranks[rank as usize];
        match found(&mut queues.posted, sender, tag) {
            Some(receive) => {
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

    /// A receive is posted.
    fn receive(&mut self, event: &Event<C::At>) {
        let &Event { time, operation: at, rank, .. } = event;
        let Operation { size, tag, peer, cpu, nic, .. } = self.operation(at);
        self.release(rank, at, true);
        let queues = &mut self.ranks[rank as usize];
        match found(&mut queues.unexpected, peer, tag) {
            Some(Letter { peer: sender, operation: message, .. }) => {
                // The receive's length decides; a send that was done at once is not done again.
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

    /// Resources of a sender are not free before `time`.
    fn hold(&mut self, rank: u32, (cpu, nic): (u8, u8), time: C::At) {
        let (cpu, nic) = (self.cpu(rank, cpu), self.nic(rank, nic));
        self.cpus[cpu] = self.cpus[cpu].max(time);
        self.outs[nic] = self.outs[nic].max(time);
    }

    /// An operation has begun, or is done.
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

    /// What has become ready goes among the events.
    fn flush(&mut self) {
        if self.ready.is_empty() {
            return;
        }
        let mut ready = std::mem::take(&mut self.ready);
        if ready.len() > 1 {
            ready.sort_by_key(|&(rank, verb, _)| (rank, verb));
        }
        for (rank, verb, at) in ready.drain(..) {
            let Operation { cpu, nic, .. } = self.operation(at);
            let way = if verb == Verb::Send { Way::Out } else { Way::Nowhere };
            let time = self.free(Lane { rank, cpu, nic, way });
            self.push(time, (rank, at), 0);
        }
        self.ready = ready;
    }
}

/// Takes the first of a queue that a peer and a tag fit, either of which may be any on both sides.
fn found(queue: &mut VecDeque<Letter>, peer: u32, tag: u64) -> Option<Letter> {
    let fits = |letter: &Letter| {
        (letter.peer == peer || letter.peer == ANY_PEER || peer == ANY_PEER)
            && (letter.tag == tag || letter.tag == ANY_TAG || tag == ANY_TAG)
    };
    let at = queue.iter().position(fits)?;
    queue.remove(at)
}

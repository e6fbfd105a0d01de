//! All ranks in virtual time: their processors, and the messages in their interfaces.
//!
//! A processor's clock may be ahead of the events processed, as long as no decision of the
//! processor depends on what arrives meanwhile: while it computes, while it takes stamps, and while
//! it waits in a state that only the next message, in order of arrival, can change. A receive is
//! such a state, since its sender and tag decide which message it takes. Before any other decision
//! the processor waits until all events up to its time have been processed.

mod active;
mod departures;

use std::collections::{HashMap, VecDeque};

use bandgap_comm::Rank;

use super::LATEST;
use super::circuits::Circuits;
use super::clock::{Clock, Cost, Step, Time, Work};
use super::event::{Event, MessageKind, Queue, What};
use super::mail::{Address, Inbox, Letter, Mail};
use crate::error::Result;
use crate::schedule::{Cursor, Program};
use crate::{Context, Machine, Op, Protocol, Schedule, SimError, WaitFor};
use active::Active;
use departures::Departure;

pub(super) struct World<'a, Q, C: Clock> {
    pub(super) queue: Q,
    pub(super) clock: C,
    schedule: &'a Schedule,
    machine: &'a Machine,
    pub(super) ranks: Vec<State<C::At>>,
    pub(super) marks: Vec<Vec<u64>>,
    mail: Mail<C::At>,
    /// Least and greatest L, if messages can overtake one another.
    overtaking: Option<[u64; 2]>,
    /// Time at which the last message that may be overtaken reaches its receiver, by sender,
    /// receiver, and whether it is an Active Message.
    reached: HashMap<(u32, u32, bool), C::At>,
    circuits: Circuits<'a, C::At>,
    /// Messages that wait for a circuit, for each rank; empty if messages share no channels.
    departures: Vec<VecDeque<Departure<C::At>>>,
    /// Number of messages sent.
    pub(super) sent: u64,
    /// Number of operations begun and messages handled.
    pub(super) steps: u64,
    /// A rank, and the time until which it is of interest.
    until: (u32, u64),
}

/// State of one rank.
#[derive(Debug, Default)]
pub(super) struct State<T> {
    /// The processor's own time.
    pub(super) now: T,
    /// Time from which each side of its interface is free.
    sending: T,
    receiving: T,
    cursor: Cursor,
    inbox: Inbox<T>,
    /// Its Active Messages; `None` before the first one.
    active: Option<Box<Active<T>>>,
}

impl<'a, C: Clock, Q: Queue<C::At>> World<'a, Q, C> {
    pub(super) fn new(
        schedule: &'a Schedule,
        machine: &'a Machine,
        queue: Q,
        clock: C,
        until: (u32, u64),
    ) -> Self {
        let size = schedule.size();
        let states = std::iter::repeat_with(State::default).take(size).collect();
        let shared = if machine.network.is_shared() { size } else { 0 };
        Self {
            queue,
            clock,
            schedule,
            machine,
            ranks: states,
            marks: vec![Vec::new(); size],
            mail: Mail::default(),
            overtaking: machine.overtaking(),
            reached: HashMap::new(),
            circuits: Circuits::new(&machine.network),
            departures: vec![VecDeque::new(); shared],
            sent: 0,
            steps: 0,
            until,
        }
    }

    /// Checks that the rank of `until` may still end in time if nothing more happens before `next`.
    ///
    /// # Errors
    /// It cannot.
    #[inline(always)]
    pub(super) fn in_time(&mut self, next: u64) -> Result {
        let (rank, last) = self.until;
        if next <= last {
            return Ok(());
        }
        let program = self.schedule.program(rank);
        match self.ranks.get_mut(rank as usize).and_then(|state| state.cursor.peek(program)) {
            Some(_) => Err(SimError::Late(rank as Rank, last)),
            None => Ok(()),
        }
    }

    /// Processes one event.
    ///
    /// # Errors
    /// A message and its receive differ in length, or virtual time is exhausted.
    pub(super) fn happen(&mut self, event: &Event<C::At>) -> Result {
        let Event { time, to, from, what } = *event;
        if time.picoseconds() > LATEST {
            return Err(SimError::TooLong(to as Rank));
        }
        let program = self.schedule.program(to);
        let goes_on = match what {
            What::Deliver { context, tag, bytes } => {
                self.deliver(time, to, Address { from, context, tag }, bytes, program)?
            }
            What::Begin => true,
            What::Arrive(kind) => self.arrive(time, to, from, kind),
            What::Complete => self.complete(time, to, from),
            What::Wake => self.wake(time, to),
            What::Depart => {
                self.depart(time, to);
                false
            }
        };
        if goes_on { self.run(to, program) } else { Ok(()) }
    }

    /// Accepts a message at the interface, which takes one message per gap and one byte per G.
    /// Returns the time at which the message is complete.
    #[inline(always)]
    fn accept(&mut self, time: C::At, to: u32, bytes: Option<u32>, costs: &Protocol) -> C::At {
        let Self { clock, ranks, .. } = self;
        let transfer = costs.transfer(bytes);
        let receiving = &mut ranks[to as usize].receiving;
        let start = clock.wait(to, time, *receiving);
        let steps = [Step::InGap, Step::InBytes];
        *receiving = clock.held(start, [costs.gap, transfer], bytes, steps);
        clock.step(start, transfer, Cost::Bytes(bytes.unwrap_or(0)), Step::Transfer)
    }

    /// Takes a message from the interface once it is complete, which costs or.
    #[inline(always)]
    fn take(
        &mut self,
        rank: u32,
        ready: C::At,
        bytes: Option<u32>,
        costs: &Protocol,
    ) -> &mut State<C::At> {
        let state = &mut self.ranks[rank as usize];
        let begin = state.now.later(ready);
        let work = Work::Receive { ready, bytes };
        state.now = self.clock.work(rank, begin, costs.recv_overhead, work);
        state
    }

    /// Delivers a message with bytes to the interface. Returns whether its receiver waited for it,
    /// and so continues.
    #[inline(always)]
    fn deliver(
        &mut self,
        time: C::At,
        rank: u32,
        address: Address,
        bytes: u32,
        program: Program<'_>,
    ) -> Result<bool> {
        let costs = self.machine.costs(Some(bytes));
        let letter = Letter { ready: self.accept(time, rank, Some(bytes), &costs), bytes };
        let state = &mut self.ranks[rank as usize];
        // A processor that has stopped at a receive waits there.
        match state.cursor.peek(program) {
            Some(Op::Recv { context, peer, tag, bytes })
                if (peer, context, tag) == (address.from, address.context, address.tag) =>
            {
                self.receive(rank, address, letter, bytes, &costs)?;
                Ok(true)
            }
            _ => {
                self.mail.put(&mut state.inbox, address, letter);
                Ok(false)
            }
        }
    }

    /// Receives a message with bytes, which costs or once it is complete, and advances the program.
    #[inline(always)]
    fn receive(
        &mut self,
        rank: u32,
        address: Address,
        letter: Letter<C::At>,
        expected: u32,
        costs: &Protocol,
    ) -> Result {
        let Letter { ready, bytes } = letter;
        if bytes != expected {
            let (rank, from) = (rank as Rank, address.from as Rank);
            return Err(SimError::OtherLength { rank, from, tag: address.tag, expected, bytes });
        }
        self.take(rank, ready, Some(bytes), costs).cursor.advance();
        self.steps += 1;
        Ok(())
    }

    /// Runs the program until it ends or must wait.
    fn run(&mut self, rank: u32, program: Program<'_>) -> Result {
        loop {
            let state = &mut self.ranks[rank as usize];
            let Some(op) = state.cursor.peek(program) else { return Ok(()) };
            let done = match op {
                Op::Mark => {
                    self.marks[rank as usize].push(state.now.picoseconds());
                    true
                }
                Op::Compute { picoseconds } => {
                    state.now = self.clock.work(rank, state.now, picoseconds, Work::Compute);
                    true
                }
                Op::Send { context, peer, tag, bytes } => {
                    self.leave(rank, peer, What::Deliver { context, tag, bytes });
                    true
                }
                Op::Recv { context, peer, tag, bytes } => {
                    let address = Address { from: peer, context, tag };
                    let Some(letter) = self.mail.take(&mut state.inbox, address) else {
                        return Ok(());
                    };
                    let costs = self.machine.costs(Some(letter.bytes));
                    self.receive(rank, address, letter, bytes, &costs)?;
                    continue;
                }
                Op::Serve { requests } => self.serve(rank, requests),
                Op::AwaitReplies => self.await_replies(rank),
                Op::Request { peer, replies, bytes } => {
                    self.ask(rank, peer, MessageKind::Request { replies, bytes })
                }
                Op::Get { peer, bytes } => self.ask(rank, peer, MessageKind::Get { bytes }),
                Op::Repeat { .. } => unreachable!("the cursor unfolds repetitions"),
            };
            if !done {
                return Ok(());
            }
            self.steps += 1;
            self.ranks[rank as usize].cursor.advance();
        }
    }

    /// Number of messages that reached the interface and were never handled or received.
    pub(super) fn unhandled(&self) -> u64 {
        let handled_by =
            |state: &State<C::At>| state.active.as_ref().map_or(0, |active| active.inbox.len());
        (self.mail.waiting + self.ranks.iter().map(handled_by).sum::<usize>()) as u64
    }

    /// What a rank waits for; `None` if its program has ended.
    pub(super) fn waits_for(&mut self, rank: u32) -> Option<WaitFor> {
        let state = &mut self.ranks[rank as usize];
        let active = state.active.as_ref();
        let (handled, outstanding) = active.map_or((0, 0), |of| (of.handled, of.outstanding));
        Some(match state.cursor.peek(self.schedule.program(rank))? {
            Op::Serve { requests } => WaitFor::Requests(requests - handled),
            Op::Request { peer, .. } | Op::Get { peer, .. } => WaitFor::Room(peer as Rank),
            Op::Recv { context: Context::Barrier, peer, .. } => WaitFor::Barrier(peer as Rank),
            Op::Recv { peer, tag, .. } => WaitFor::Message(peer as Rank, tag),
            _ => WaitFor::Completions(outstanding),
        })
    }
}

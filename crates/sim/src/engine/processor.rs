//! One rank in virtual time: its processor, and what is in its interface.
//!
//! A processor's clock may be ahead of the event queue. That is allowed as long as nothing it
//! decides depends on what arrives meanwhile: while it computes, while it takes stamps, and while
//! it waits for messages in a state that only the next message, in order of arrival, can change. A
//! receive is such a state: its sender and tag decide which message it takes.
//! Before any other decision it waits for the queue to catch up.

mod active;
mod bytes;

use std::collections::VecDeque;

use bandgap_comm::Rank;

use super::event::{Kind, Parcel, Queue, What};
use super::interface::Interface;
use super::mail::{Address, Mail};
use crate::machine::Picoseconds;
use crate::schedule::Cursor;
use crate::{Context, Op, SimError, WaitFor};

/// No event.
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Processor<'a> {
    rank: u32,
    ops: &'a [Op],
    cursor: Cursor,
    /// The processor's own time.
    pub(super) now: u64,
    interface: Interface,
    inbox: VecDeque<Accepted>,
    mail: Mail,
    /// The message that it goes on with, and only with that.
    awaited: Option<Address>,
    /// Peers that this rank sends to, ascending.
    peers: Vec<Peer>,
    outstanding: u64,
    /// Those of them that complete without a reply.
    silent: u64,
    /// Requests handled that no `Serve` has counted yet.
    handled: u64,
    /// When the request that is not sent yet began.
    begun: Option<u64>,
    /// Whether it goes on only when something arrives.
    waiting: bool,
    /// When the queue shall wake it; an event of another time was overtaken.
    alarm: u64,
    pub(super) marks: Vec<u64>,
    /// Messages sent.
    pub(super) sent: u64,
    /// Operations begun, and messages handled.
    pub(super) steps: u64,
}

#[derive(Clone, Copy, Debug)]
struct Accepted {
    ready: u64,
    parcel: Parcel,
}

#[derive(Clone, Copy, Debug)]
struct Peer {
    rank: u32,
    /// Requests toward it that have not completed.
    outstanding: u32,
    /// When the last message of bytes reaches it, and the last request, store or get.
    reached: u64,
    asked: u64,
}

impl<'a> Processor<'a> {
    pub(super) fn new(rank: u32, ops: &'a [Op]) -> Self {
        let mut peers: Vec<u32> = ops
            .iter()
            .filter_map(|op| match op {
                Op::Request { peer, .. }
                | Op::Store { peer, .. }
                | Op::Get { peer, .. }
                | Op::Send { peer, .. } => Some(*peer),
                _ => None,
            })
            .collect();
        peers.sort_unstable();
        peers.dedup();
        let peers =
            peers.into_iter().map(|rank| Peer { rank, outstanding: 0, reached: 0, asked: 0 });
        Self {
            rank,
            ops,
            cursor: Cursor::default(),
            now: 0,
            interface: Interface::default(),
            inbox: VecDeque::new(),
            mail: Mail::default(),
            awaited: None,
            peers: peers.collect(),
            outstanding: 0,
            silent: 0,
            handled: 0,
            begun: None,
            waiting: false,
            alarm: NEVER,
            marks: Vec::new(),
            sent: 0,
            steps: 0,
        }
    }

    /// Ends a wait at `time`, or later if the processor is ahead.
    #[inline]
    fn resume(&mut self, time: u64) -> bool {
        if self.waiting {
            self.now = self.now.max(time);
            self.alarm = NEVER;
        }
        std::mem::take(&mut self.waiting)
    }

    /// An event that the processor asked for. Returns whether it still wants it.
    #[inline]
    pub(super) fn wake(&mut self, time: u64) -> bool {
        let wanted = self.alarm == time;
        if wanted {
            self.resume(time);
            self.alarm = NEVER;
        }
        wanted
    }

    /// Asks for an event.
    #[inline]
    pub(super) fn wake_at(&mut self, time: u64, queue: &mut Queue) {
        self.alarm = time;
        queue.push(time, self.rank, What::Wake);
    }

    /// Goes on with the program until it ends or must wait.
    ///
    /// # Errors
    /// A message has another length than its receive.
    #[inline]
    pub(super) fn run(
        &mut self,
        queue: &mut Queue,
        machine: &Picoseconds<'_>,
        capacity: u32,
    ) -> Result<(), SimError> {
        while let Some(op) = self.cursor.peek(self.ops) {
            match op {
                Op::Mark => self.marks.push(self.now),
                Op::Compute { picoseconds } => {
                    self.now = self.now.saturating_add(picoseconds);
                }
                Op::Serve { requests } => {
                    // Only the next message matters here, whenever it comes.
                    while self.handled < requests {
                        let Some(next) = self.inbox.pop_front() else {
                            self.waiting = true;
                            return Ok(());
                        };
                        self.handle(next, queue, machine);
                    }
                    self.handled -= requests;
                }
                Op::AwaitReplies => {
                    while self.outstanding > 0 {
                        if self.silent > 0 && !self.caught_up(queue) {
                            return Ok(());
                        }
                        if !self.handle_next(queue, machine) {
                            return Ok(());
                        }
                    }
                }
                Op::Request { peer, .. } | Op::Store { peer, .. } | Op::Get { peer, .. } => {
                    let kind = Kind::of(op).expect("each of the three is a message");
                    if !self.ask(peer, kind, capacity, queue, machine) {
                        return Ok(());
                    }
                }
                Op::Send { context, peer, tag, bytes } => {
                    let address = Address { from: self.rank, context, tag };
                    self.send_bytes(peer, address, bytes, queue, machine);
                }
                Op::Recv { context, peer, tag, bytes } => {
                    let address = Address { from: peer, context, tag };
                    let Some(letter) = self.mail.take(address) else {
                        self.awaited = Some(address);
                        return Ok(());
                    };
                    self.receive(address, letter, bytes, machine)?;
                }
                Op::Repeat { .. } => unreachable!("the cursor unfolds repetitions"),
            }
            self.steps += 1;
            self.cursor.advance();
        }
        Ok(())
    }

    /// Whether all that arrives up to this processor's time is in its inbox. If not, the processor
    /// goes on when it is.
    #[inline]
    fn caught_up(&mut self, queue: &mut Queue) -> bool {
        let settled = queue.settled(self.now);
        if !settled {
            self.wake_at(self.now, queue);
        }
        settled
    }

    #[inline]
    fn slot(&self, peer: u32) -> usize {
        self.peers.partition_point(|other| other.rank < peer)
    }

    /// Messages that reached the interface and were never handled or received.
    pub(super) fn unhandled(&self) -> u64 {
        (self.inbox.len() + self.mail.len()) as u64
    }

    /// What the rank waits for; `None` when its program has ended.
    pub(super) fn waits_for(&mut self) -> Option<WaitFor> {
        Some(match self.cursor.peek(self.ops)? {
            Op::Serve { requests } => WaitFor::Requests(requests - self.handled),
            Op::Request { peer, .. } | Op::Store { peer, .. } | Op::Get { peer, .. } => {
                WaitFor::Room(peer as Rank)
            }
            Op::Recv { context: Context::Barrier, peer, .. } => WaitFor::Barrier(peer as Rank),
            Op::Recv { peer, tag, .. } => WaitFor::Message { from: peer as Rank, tag },
            _ => WaitFor::Completions(self.outstanding),
        })
    }
}

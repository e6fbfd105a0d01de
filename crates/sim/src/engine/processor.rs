//! One rank in virtual time: its processor, and what is in its interface.
//!
//! A processor's clock may be ahead of the event queue. That is allowed as long as nothing it
//! decides depends on what arrives meanwhile: while it computes, while it takes stamps, and while
//! it waits for messages in a state that only the next message, in order of arrival, can change. A
//! receive is such a state: its sender and tag decide which message it takes.
//! Before any other decision it waits for the queue to catch up.

mod active;
mod bytes;
mod departures;

use std::collections::{BTreeSet, VecDeque};

use bandgap_comm::Rank;

use super::event::{Kind, Parcel, Queue, What};
use super::interface::Side;
use super::mail::{Address, Mail};
use crate::schedule::Cursor;
use crate::{Context, Machine, Op, SimError, WaitFor};
use departures::Departure;

#[derive(Debug, Default)]
pub(super) struct Processor<'a> {
    rank: u32,
    ops: &'a [Op],
    cursor: Cursor,
    /// The processor's own time.
    pub(super) now: u64,
    sending: Side,
    /// Messages that wait for a circuit; none where messages share no channels.
    departures: VecDeque<Departure>,
    receiving: Side,
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
    alarm: Option<u64>,
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

#[derive(Debug, Default)]
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
        let peers: BTreeSet<u32> = ops
            .iter()
            .filter_map(|op| match op {
                Op::Request { peer, .. } | Op::Get { peer, .. } | Op::Send { peer, .. } => {
                    Some(*peer)
                }
                _ => None,
            })
            .collect();
        let peers = peers.into_iter().map(|rank| Peer { rank, ..Peer::default() });
        Self { rank, ops, peers: peers.collect(), ..Self::default() }
    }

    /// A message reaches the interface, which accepts one per gap, and one byte per G. Returns when
    /// it is whole.
    #[inline]
    fn accept(&mut self, time: u64, bytes: Option<u32>, machine: &Machine) -> u64 {
        let transfer = machine.costs(bytes).transfer;
        self.receiving.occupy(time, transfer.max(machine.gap)).saturating_add(transfer)
    }

    /// Takes a message out of the interface once it is whole: or.
    #[inline]
    fn take(&mut self, ready: u64, bytes: Option<u32>, machine: &Machine) {
        let recv_overhead = machine.costs(bytes).recv_overhead;
        self.now = self.now.max(ready).saturating_add(recv_overhead);
    }

    /// Ends a wait at `time`, or later if the processor is ahead.
    #[inline]
    fn resume(&mut self, time: u64) -> bool {
        if self.waiting {
            self.now = self.now.max(time);
            self.alarm = None;
        }
        std::mem::take(&mut self.waiting)
    }

    /// An event that the processor asked for. Returns whether it still wants it.
    #[inline]
    pub(super) fn wake(&mut self, time: u64) -> bool {
        let wanted = self.alarm.take_if(|alarm| *alarm == time).is_some();
        if wanted {
            self.resume(time);
        }
        wanted
    }

    /// Asks for an event.
    #[inline]
    pub(super) fn wake_at(&mut self, time: u64, queue: &mut Queue) {
        self.alarm = Some(time);
        queue.push(time, self.rank, What::Wake);
    }

    /// Goes on with the program until it ends or must wait.
    ///
    /// # Errors
    /// A message has another length than its receive.
    #[inline]
    pub(super) fn run(&mut self, queue: &mut Queue, machine: &Machine) -> Result<(), SimError> {
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
                Op::Request { peer, replies, bytes } => {
                    if !self.ask(peer, Kind::Request { replies, bytes }, queue, machine) {
                        return Ok(());
                    }
                }
                Op::Get { peer, bytes } => {
                    if !self.ask(peer, Kind::Get { bytes }, queue, machine) {
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
            Op::Request { peer, .. } | Op::Get { peer, .. } => WaitFor::Room(peer as Rank),
            Op::Recv { context: Context::Barrier, peer, .. } => WaitFor::Barrier(peer as Rank),
            Op::Recv { peer, tag, .. } => WaitFor::Message { from: peer as Rank, tag },
            _ => WaitFor::Completions(self.outstanding),
        })
    }
}

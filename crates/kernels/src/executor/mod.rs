//! Carries out orders on a transport.

mod active;
mod messages;
mod vectors;

use bandgap_comm::passing::{Passing, Tuning, Way};
use bandgap_comm::{
    ActiveMessages, Bulk, CommError, Delay, Processor, Rank, Result, Stamp, Timer, Waiting, Watch,
    Work,
};

use self::vectors::Vectors;
use crate::handlers::{MEET, handlers};
use crate::verify::blocks::Blocks;
use crate::{
    Arrived, Failed, Log, Needs, Order, Outcome, RankState, Rig, Tally, Wrong, carry_out, mailbox,
};

/// One rank's message passing and Active Messages, with a clock.
#[derive(Debug)]
pub struct Executor<E, T, W> {
    passing: Passing<E, W, RankState>,
    timer: T,
    marks: Vec<Stamp>,
    /// Ranks that take part in the current order.
    ranks: usize,
    orders: u64,
    /// Meetings in the current order.
    meetings: u64,
    /// Requests that will have been handled once the program has served all that it was asked to.
    served: u64,
    /// Messages received.
    received: u64,
    blocks: Blocks,
    vectors: Vectors,
}

impl<E: Bulk, T: Timer, W: Watch> Executor<E, T, W> {
    /// Makes an executor over `endpoint`. `slots` says where message passing has its slots in the
    /// exposed memory; stores and gets use all of it.
    ///
    /// # Errors
    /// [`CommError::NotExposed`]: the slots do not fit.
    pub fn new(
        endpoint: E,
        slots: Option<(usize, &Tuning)>,
        waiting: Waiting,
        watch: W,
        timer: T,
    ) -> Result<Self> {
        let (rank, size) = (endpoint.rank(), endpoint.size());
        let (handlers, state) = handlers(rank, size, endpoint.exposed(), slots)?;
        let am = ActiveMessages::new(endpoint, handlers, state, waiting, watch);
        Ok(Self {
            passing: Passing::over(am),
            timer,
            marks: Vec::new(),
            ranks: size,
            orders: 0,
            meetings: 0,
            served: 0,
            received: 0,
            blocks: Blocks::default(),
            vectors: Vectors::default(),
        })
    }

    /// The Active Messages below, for untimed use.
    pub fn active(&mut self) -> &mut ActiveMessages<E, RankState, W> {
        self.passing.active()
    }

    /// The transport below.
    pub fn endpoint(&self) -> &E {
        self.passing.as_active().endpoint()
    }

    /// Carries out this rank's part of `order`, and verifies what arrived. Every rank of the run
    /// must be given every order. Orders must not overlap: all ranks return from one before the
    /// next begins. Wrong contents are not an error but part of the outcome, since they are
    /// compared after the batch has ended.
    ///
    /// # Errors
    /// The order cannot be carried out, a peer is gone, or a deadline passed.
    pub fn execute(&mut self, order: &Order) -> Result<Outcome, Failed> {
        carry_out(self, order)
    }

    /// Times `messages` computations of `delay` without communication, `samples` times, in ticks.
    /// This is Δ as it is in this process.
    pub fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<u64> {
        let mut ticks = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            let begin = self.timer.stamp();
            for _ in 0..messages {
                self.compute(Work::Chain(delay));
            }
            ticks.push(self.timer.stamp().ticks().saturating_sub(begin.ticks()));
        }
        ticks
    }

    /// Sends a letter to rank `to`, and returns when it has arrived.
    ///
    /// # Errors
    /// The letter is too long, `to` is not another rank, a peer is gone, or a deadline passed.
    pub fn post(&mut self, to: Rank, bytes: &[u8]) -> Result<()> {
        mailbox::post(self.passing.active(), to, bytes)
    }

    /// Waits for a letter from rank `from`.
    ///
    /// # Errors
    /// `from` sent words that are not a letter, a peer is gone, or a deadline passed.
    pub fn letter(&mut self, from: Rank) -> Result<Vec<u8>> {
        let active = self.passing.active();
        loop {
            active.rest_until(|state| state.mailbox.has(from))?;
            if let Some(letter) = active.state_mut().mailbox.take(from)? {
                return Ok(letter);
            }
        }
    }
}

impl<E: Bulk, T: Timer, W: Watch> Processor for Executor<E, T, W> {
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.passing.as_active().rank()
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.ranks
    }

    #[inline(always)]
    fn mark(&mut self) {
        self.marks.push(self.timer.stamp());
    }

    #[inline(always)]
    fn compute(&mut self, work: Work) {
        match work {
            Work::Chain(delay) if delay.iterations > 0 => self.timer.work(delay.iterations),
            Work::Chain(_) => {}
            Work::Daxpy(delay) => self.vectors.daxpy(delay.iterations as usize),
        }
    }
}

impl<E: Bulk, T: Timer, W: Watch> Rig for Executor<E, T, W> {
    fn whole(&self) -> usize {
        self.passing.size()
    }

    fn begin(&mut self, ranks: usize) -> u64 {
        (self.ranks, self.meetings) = (ranks, 0);
        self.orders += 1;
        self.orders
    }

    fn resize(&mut self, bytes: usize) {
        self.passing.resize(bytes);
    }

    fn prepare(&mut self, needs: &Needs, marks: usize) {
        self.vectors.grow(needs.doubles);
        self.marks.clear();
        self.marks.reserve(marks);
    }

    fn go(&mut self, way: Way) -> (Way, Option<String>) {
        let Err(refused) = self.passing.set_way(way) else { return (way, None) };
        let reason = match refused {
            CommError::SingleCopy { reason } if self.endpoint().shares() => Some(reason),
            _ => None,
        };
        (Way::Pieces, reason)
    }

    fn turn(&mut self, turn: u64, partner: Rank) {
        self.blocks.begin(turn, self.passing.as_active().rank(), partner);
    }

    fn memory(&mut self) -> &mut [u8] {
        self.passing.memory_mut()
    }

    fn marks(&self) -> &[Stamp] {
        &self.marks
    }

    fn arrived(&self) -> Arrived {
        let state = self.passing.as_active().state();
        Arrived {
            tally: state.tally,
            messages: self.received,
            unclaimed: self.passing.unclaimed(),
            blocks: self.blocks.arrived,
            blocks_compared: self.blocks.compared,
        }
    }

    fn note_words(&mut self, most: usize) {
        let state = self.passing.active().state_mut();
        state.tally.logging = most > 0;
        if most > 0 {
            state.log.begin(most);
        }
    }

    fn log(&self) -> Option<&Log> {
        Some(&self.passing.as_active().state().log)
    }

    /// All ranks tell rank 0, and rank 0 tells all. It uses no message passing, since its barriers
    /// may be under test.
    fn meet(&mut self) -> Result<()> {
        self.meetings += 1;
        let number = self.orders << 32 | self.meetings;
        let (rank, ranks) = (self.rank(), self.ranks);
        let active = self.passing.active();
        if rank > 0 {
            active.request(0, MEET, [number])?;
            active.serve_until(|state| state.met[0] >= number)?;
        } else {
            active.serve_until(|state| state.met[1..ranks].iter().all(|met| *met >= number))?;
            (1..ranks).try_for_each(|rank| active.request(rank, MEET, [number]))?;
        }
        active.await_replies()
    }

    fn settle(&mut self) -> Result<()> {
        self.passing.settle()?;
        while self.passing.active().poll()? > 0 {}
        self.passing.settle()
    }

    fn forget(&mut self) {
        self.passing.active().state_mut().tally = Tally::default();
        (self.served, self.received) = (0, 0);
        (self.blocks.arrived, self.blocks.compared) = (0, 0);
    }

    fn noticed(&mut self) -> Option<Wrong> {
        self.blocks.wrong.take()
    }
}

//! Carries out orders on a transport.

mod active;
mod messages;
mod vectors;

use bandgap_comm::passing::{HoldsMail, Passing, Tuning};
use bandgap_comm::{
    ActiveMessages, Bulk, CommError, Processor, Rank, Stamp, Timer, Waiting, Watch, Work,
};

use self::vectors::Vectors;
use crate::handlers::{MEET, handlers};
use crate::{
    Arrived, Blocks, Failed, Log, Moves, Needs, Order, Outcome, RankState, Rig, Row, Tally, Wrong,
    mailbox, rows,
};

/// One rank's message passing and Active Messages, with a clock.
#[derive(Debug)]
pub struct Executor<E, T, W> {
    passing: Passing<E, W, RankState>,
    timer: T,
    marks: Vec<Stamp>,
    /// Ranks that take part in the order at hand.
    ranks: usize,
    orders: u64,
    /// Meetings in the order at hand.
    meetings: u64,
    /// Requests that will have been handled when the program has served all it was told to.
    served: u64,
    /// Messages received.
    received: u64,
    /// What had arrived when the last batch ended.
    before: Arrived,
    blocks: Blocks,
    vectors: Vectors,
}

impl<E: Bulk, T: Timer, W: Watch> Executor<E, T, W> {
    /// An executor over `endpoint`. `slots` says where in the exposed memory message passing has its
    /// slots; stores and gets use all of it.
    ///
    /// # Errors
    /// [`CommError::NotExposed`]: the slots do not fit.
    pub fn new(
        endpoint: E,
        slots: Option<(usize, &Tuning)>,
        waiting: Waiting,
        watch: W,
        timer: T,
    ) -> Result<Self, CommError> {
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
            before: Arrived::default(),
            blocks: Blocks::default(),
            vectors: Vectors::default(),
        })
    }

    /// The Active Messages below, for what is not timed.
    pub fn active(&mut self) -> &mut ActiveMessages<E, RankState, W> {
        self.passing.active()
    }

    /// The transport below.
    pub fn endpoint(&self) -> &E {
        self.passing.as_active().endpoint()
    }

    /// The clock.
    pub fn timer(&self) -> &T {
        &self.timer
    }

    /// Carries out this rank's part of `order`, and verifies what arrived. Every rank of the run is
    /// given every order. Orders must not overlap: the next one begins when every rank has returned
    /// from this one. Wrong contents are no error: they are in the outcome, as the batch ends before
    /// they are compared.
    ///
    /// # Errors
    /// The order cannot be carried out, a peer is gone, or a deadline passed.
    pub fn execute(&mut self, order: &Order) -> Result<Outcome, Failed> {
        let row = Row::find(rows::<Self>(), order)?;
        (row.run)(self, order)
    }

    /// Times `messages` computations of `work` with no communication between them, `samples` times,
    /// in ticks: Δ as it is in this place.
    pub fn time_work(&mut self, work: Work, messages: u32, samples: u32) -> Vec<u64> {
        if let Work::Daxpy(delay) = work {
            self.vectors.grow(delay.iterations as usize);
        }
        let mut ticks = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            let begin = self.timer.stamp();
            for _ in 0..messages {
                self.compute(work);
            }
            ticks.push(self.timer.stamp().ticks().saturating_sub(begin.ticks()));
        }
        ticks
    }

    /// Sends a letter to the mailbox of rank `to` ([`mailbox::post`]).
    ///
    /// # Errors
    /// As [`mailbox::post`].
    pub fn post(&mut self, to: Rank, bytes: &[u8]) -> Result<(), CommError> {
        mailbox::post(self.passing.active(), to, bytes)
    }

    /// Waits for a letter of rank `from`.
    ///
    /// # Errors
    /// `from` sent words that are not a letter, a peer is gone, or a deadline passed.
    pub fn letter(&mut self, from: Rank) -> Result<Vec<u8>, CommError> {
        let active = self.passing.active();
        loop {
            active.serve_until(|state| state.mailbox.has(from))?;
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

    fn prepare(&mut self, needs: &Needs, memory: usize, marks: usize) {
        self.passing.resize(memory);
        self.vectors.grow(needs.doubles);
        self.marks.clear();
        self.marks.reserve(marks);
    }

    fn memory(&mut self) -> &mut [u8] {
        self.passing.memory_mut()
    }

    fn marks(&mut self) -> &mut Vec<Stamp> {
        &mut self.marks
    }

    fn arrived(&self) -> Arrived {
        let state = self.passing.as_active().state();
        let (now, then) = (state.tally, self.before.tally);
        Arrived {
            tally: Tally {
                served: now.served - then.served,
                served_sum: now.served_sum.wrapping_sub(then.served_sum),
                replies: now.replies - then.replies,
                reply_sum: now.reply_sum.wrapping_sub(then.reply_sum),
                logging: now.logging,
            },
            messages: self.received - self.before.messages,
            unclaimed: state.mail().unclaimed(),
            blocks: self.blocks.arrived - self.before.blocks,
            blocks_compared: self.blocks.compared - self.before.blocks_compared,
        }
    }

    fn log(&mut self) -> Option<&mut Log> {
        Some(&mut self.passing.active().state_mut().log)
    }

    fn note_words(&mut self, on: bool) {
        self.passing.active().state_mut().tally.logging = on;
    }

    /// All tell rank 0, and rank 0 tells all: without message passing, whose barriers may be what
    /// is verified.
    fn meet(&mut self) -> Result<(), CommError> {
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

    fn settle(&mut self) -> Result<(), CommError> {
        self.passing.settle()?;
        while self.passing.active().poll()? > 0 {}
        self.passing.settle()
    }

    fn forget(&mut self) {
        let tally = self.passing.as_active().state().tally;
        self.served = tally.served;
        self.before = Arrived {
            tally,
            messages: self.received,
            unclaimed: 0,
            blocks: self.blocks.arrived,
            blocks_compared: self.blocks.compared,
        };
    }

    fn noticed(&mut self) -> Option<Wrong> {
        self.blocks.wrong.take()
    }
}

impl<E: Bulk, T: Timer, W: Watch> Moves for Executor<E, T, W> {
    fn blocks(&mut self) -> &mut Blocks {
        &mut self.blocks
    }
}

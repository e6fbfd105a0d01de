//! Runs a rank program on a transport.

use bandgap_comm::passing::Passing;
use bandgap_comm::{
    ActiveMessages, Am, Bulk, CommError, Delay, Endpoint, Rank, Source, Stamp, Timer, Transfer,
    Verb, Watch, Word,
};

use crate::handlers::{ECHOED, pattern};
use crate::memory::{self, Blocks};
use crate::message::Buffers;
use crate::program::{replied_words, served_words};
use crate::reduce::{self, Samples};
use crate::{Job, Pattern, RankState, Tally};

/// One rank's Active Messages with a clock: executes rank programs.
#[derive(Debug)]
pub struct Executor<E, T, W, S = RankState> {
    pub(crate) passing: Passing<E, W, S>,
    pub(crate) timer: T,
    pub(crate) marks: Vec<Stamp>,
    pub(crate) buffers: Buffers,
    served: u64,
    served_sum: u64,
    blocks: Blocks,
    /// The peer of the transfers of this job.
    partner: Rank,
}

impl<E, T, W, S> Executor<E, T, W, S>
where
    E: Endpoint,
    T: Timer,
    W: Watch,
    S: AsRef<RankState> + AsMut<RankState>,
{
    /// An executor over `am`, whose handlers are those of [`crate::handlers`].
    pub fn new(am: ActiveMessages<E, S, W>, timer: T) -> Self {
        let (marks, blocks) = (Vec::new(), Blocks::new());
        let passing = Passing::over(am);
        let buffers = Buffers::default();
        Self { passing, buffers, timer, marks, served: 0, served_sum: 0, blocks, partner: 0 }
    }

    /// The Active Messages below, for what is not timed.
    pub fn active(&mut self) -> &mut ActiveMessages<E, S, W> {
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

    /// Times `messages` computations of `delay` with no request between them, `samples` times, in
    /// ticks: Δ as it is in this place.
    pub fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<u64> {
        let mut ticks = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            let begin = self.timer.stamp();
            for _ in 0..messages {
                self.compute(delay);
            }
            ticks.push(self.timer.stamp().ticks().saturating_sub(begin.ticks()));
        }
        ticks
    }

    /// Runs this rank's part of `job`, of words or of bulk transfers, checks what arrived, and
    /// returns the samples (empty on ranks that do not time). Jobs must not overlap: the next
    /// begins when every rank has returned from this one.
    ///
    /// # Errors
    /// A peer is gone, a deadline passed, or messages or bytes arrived with wrong content.
    pub fn execute(&mut self, job: &Job) -> Result<Samples, CommError>
    where
        E: Bulk,
    {
        if !job.moves_bytes() {
            return self.complete(job, |executor| crate::run(executor, job));
        }
        let (timed, peer) = job.timed(self.size());
        self.partner = if self.rank() == timed { peer } else { timed };
        self.blocks.begin();
        self.complete(job, |executor| crate::transfer(executor, job))
    }

    pub(crate) fn complete(
        &mut self,
        job: &Job,
        program: impl FnOnce(&mut Self) -> Result<(), CommError>,
    ) -> Result<Samples, CommError> {
        self.marks.clear();
        self.marks.reserve(reduce::marks(job).max(3 * job.samples as usize));
        let before = self.passing.as_active().state().as_ref().tally;
        program(self)?;
        self.verify(job, before)?;
        Ok(reduce::reduce(job, &self.marks))
    }

    /// Compares counts and sums with what `job` makes this rank receive.
    fn verify(&mut self, job: &Job, before: Tally) -> Result<(), CommError> {
        let (rank, size) = (self.rank(), self.size());
        let now = self.passing.as_active().state().as_ref().tally;
        let (served, sum) = served_words(job, rank, size);
        self.served_sum = self.served_sum.wrapping_add(sum);
        if (now.served, now.served_sum) != (self.served, self.served_sum) {
            let got = (served + now.served).saturating_sub(self.served);
            return Err(wrong("requests", job, served, self.served_sum, got, now.served_sum));
        }
        let (replies, sum) = replied_words(job, rank, size);
        let got = now.replies - before.replies;
        let got_sum = now.reply_sum.wrapping_sub(before.reply_sum);
        if (got, got_sum) != (replies, sum) {
            return Err(wrong("replies", job, replies, sum, got, got_sum));
        }
        Ok(())
    }
}

#[cold]
fn wrong(what: &str, job: &Job, count: u64, sum: u64, got: u64, got_sum: u64) -> CommError {
    CommError::Garbage {
        peer: match job.pattern {
            Pattern::OneToOne { replier, .. } => replier,
            _ => 0,
        },
        what: format!(
            "{what} of {} × {} messages: expected {count} with sum {sum:#x}, got {got} with sum \
             {got_sum:#x}",
            job.samples, job.messages
        ),
    }
}

impl<E, T, W, S> Am for Executor<E, T, W, S>
where
    E: Endpoint,
    T: Timer,
    W: Watch,
    S: AsRef<RankState> + AsMut<RankState>,
{
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.passing.as_active().rank()
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.passing.as_active().size()
    }

    #[inline(always)]
    fn request(&mut self, peer: Rank, verb: Verb, word: Word) -> Result<(), CommError> {
        self.passing.active().request(peer, verb.handler, [word])?;
        // What gets no reply is looked after when there is no room: a stream is left to run.
        if verb.replies {
            self.passing.active().poll()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn await_replies(&mut self) -> Result<(), CommError> {
        self.passing.active().await_replies()
    }

    #[inline(always)]
    fn serve(&mut self, requests: u64) -> Result<(), CommError> {
        self.served += requests;
        let target = self.served;
        self.passing.active().serve_until(|state| state.as_ref().tally.served >= target)
    }

    #[inline(always)]
    fn compute(&mut self, delay: Delay) {
        if delay.iterations > 0 {
            self.timer.work(delay.iterations);
        }
    }

    #[inline(always)]
    fn mark(&mut self) {
        self.marks.push(self.timer.stamp());
    }
}

impl<E, T, W, S> Transfer for Executor<E, T, W, S>
where
    E: Bulk,
    T: Timer,
    W: Watch,
    S: AsRef<RankState> + AsMut<RankState>,
{
    #[inline(always)]
    fn store(&mut self, peer: Rank, verb: Verb, index: u64, bytes: usize) -> Result<(), CommError> {
        let into = memory::target(self.endpoint(), index, bytes)?;
        let at = memory::source(self.endpoint(), index, bytes)?;
        let from = Source::Exposed { at, len: bytes };
        self.passing.active().store(peer, into, from, verb.handler, [pattern(index)])?;
        if verb.replies {
            self.passing.active().poll()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn get(&mut self, peer: Rank, index: u64, bytes: usize) -> Result<(), CommError> {
        let into = memory::target(self.endpoint(), index, bytes)?;
        let at = memory::source(self.endpoint(), index, bytes)?;
        // The word that the replier's echo would bring.
        self.passing.active().get(peer, at, into, bytes, ECHOED, [!pattern(index)])?;
        self.passing.active().poll()?;
        Ok(())
    }

    fn refresh(&mut self, blocks: u64, bytes: usize) -> Result<(), CommError> {
        self.blocks.refresh(self.passing.active(), blocks, bytes)
    }

    fn check(&mut self, blocks: u64, bytes: usize) -> Result<(), CommError> {
        self.blocks.check(self.passing.as_active(), self.partner, blocks, bytes)
    }
}

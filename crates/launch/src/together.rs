//! Both sides of a message on one processor: what of its time is software.

use bandgap_comm::{Am as _, BothEnds, Bulk, CommError, Rank, Stamping, Timed, Timer as _, Watch};
use bandgap_host::CycleClock;
use bandgap_kernels::{ECHO, Executor, Failed, Order, Outcome, PingPong};

use crate::stamped::StampedEnd;

/// Both ends of a connection of this rank's own.
pub(crate) struct Together<E, W> {
    ends: [Executor<E, CycleClock, W>; 2],
    lines: Box<dyn Fn(u32, &CycleClock) -> u64>,
    clock: CycleClock,
    rank: Rank,
}

impl<E: Bulk, W: Watch + Clone + 'static> Together<E, W> {
    pub fn of(
        rank: Rank,
        both: BothEnds<E, CycleClock>,
        watch: &W,
        clock: CycleClock,
    ) -> Result<Self, CommError> {
        let waiting = bandgap_comm::Waiting::Spin;
        let end = |end| Executor::new(end, None, waiting, watch.clone(), clock);
        let [requester, replier] = both.ends;
        Ok(Self { ends: [end(requester)?, end(replier)?], lines: both.lines, clock, rank })
    }

    /// So many round trips, with a stamp after each of their three parts. Returns the ticks of one of the parts, or of
    /// all.
    fn round_trips<const PART: usize>(&mut self, rounds: u32) -> Result<u64, CommError> {
        let Self { ends: [requester, replier], clock, .. } = self;
        let mut sum = 0_u64;
        let begun = clock.stamp().ticks();
        let mut last = begun;
        for word in 0..u64::from(rounds) {
            requester.request(1, ECHO, word)?;
            let requested = clock.stamp().ticks();
            replier.serve(1)?;
            let handled = clock.stamp().ticks();
            requester.await_replies()?;
            let completed = clock.stamp().ticks();
            match PART {
                REQUEST => sum += requested - last,
                COMPLETION => sum += completed - handled,
                _ => {}
            }
            last = completed;
        }
        Ok(if PART == ALL { last - begun } else { sum })
    }

    /// So many pairs of stamps.
    fn pairs(&self, rounds: u32) -> u64 {
        let pair = |_| {
            let begun = self.clock.stamp().ticks();
            self.clock.stamp().ticks() - begun
        };
        (0..rounds).map(pair).sum()
    }
}

/// Parts of a round trip.
const ALL: usize = 0;
const REQUEST: usize = 1;
const COMPLETION: usize = 2;

impl<E: Bulk, W: Watch + Clone + 'static> StampedEnd for Together<E, W> {
    fn carries(&self, stamping: Stamping) -> bool {
        use Stamping::{Completion, Lines, Pair, Request, Together};
        matches!(stamping, Together | Request | Completion | Lines | Pair)
    }

    /// Only the first rank does anything.
    fn run(&mut self, order: &Order) -> Result<Outcome, Failed> {
        if self.rank > 0 {
            return Ok(Outcome::default());
        }
        let kernel: PingPong = order.kernel(order.ranks)?;
        let stamping = order.at_border.unwrap_or_default().stamping;
        let rounds = kernel.messages;
        let ticks = match stamping {
            Stamping::Lines => (self.lines)(rounds, &self.clock),
            Stamping::Pair => self.pairs(rounds),
            Stamping::Request => self.round_trips::<REQUEST>(rounds)?,
            Stamping::Completion => self.round_trips::<COMPLETION>(rounds)?,
            _ => self.round_trips::<ALL>(rounds)?,
        };
        let (ticks, count) = (i64::try_from(ticks).unwrap_or(i64::MAX), rounds.into());
        let timed = Some(Timed { ticks, count, ..Timed::default() });
        Ok(Outcome { timed, ..Outcome::default() })
    }
}

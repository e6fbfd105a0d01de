//! Both sides of a message on one processor: what of its time is software.

use bandgap_comm::{
    Am as _, AtBorder, Border, BothEnds, Bulk, Delay, Rank, Result, RoundTrips, Stamping, Timed,
    Timer as _, Watch,
};
use bandgap_host::CycleClock;
use bandgap_kernels::{ECHO, Executor, Failed, Order, Outcome, PingPong};

use crate::stamped::StampedEnd;

/// Both ends of a connection of this rank's own.
pub(crate) struct Together<E, W> {
    ends: [Executor<E, CycleClock, W>; 2],
    lines: Box<RoundTrips<CycleClock>>,
    clock: CycleClock,
    rank: Rank,
}

impl<E: Bulk, W: Watch + Clone + 'static> Together<E, W> {
    pub fn of(
        rank: Rank,
        both: BothEnds<E, CycleClock>,
        watch: &W,
        clock: CycleClock,
    ) -> Result<Self> {
        let waiting = bandgap_comm::Waiting::Spin;
        let end = |end| Executor::new(end, None, waiting, watch.clone(), clock);
        let [requester, replier] = both.ends;
        Ok(Self { ends: [end(requester)?, end(replier)?], lines: both.lines, clock, rank })
    }

    /// So many round trips, with a stamp after each side: a message's arrival is what the other side waits for, and
    /// between two arrivals a processor goes on without a break. Returns the ticks of all.
    ///
    /// A requester does not poll after it has sent, as it does elsewhere: that poll is part of the wait.
    fn round_trips(&mut self, rounds: u32) -> Result<u64> {
        let Self { ends: [requester, replier], clock, .. } = self;
        let begun = clock.stamp().ticks();
        let mut last = begun;
        for word in 0..u64::from(rounds) {
            requester.await_replies()?;
            requester.active().request(1, ECHO.handler, [word])?;
            clock.stamp();
            replier.serve(1)?;
            last = clock.stamp().ticks();
        }
        requester.await_replies()?;
        Ok(last - begun)
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

impl<E: Bulk, W: Watch + Clone + 'static> StampedEnd for Together<E, W> {
    fn carries(&self, stamping: Stamping) -> bool {
        matches!(stamping, Stamping::Together | Stamping::Lines | Stamping::Pair)
    }

    /// Only the first rank does anything.
    fn run(&mut self, order: &Order) -> Result<Outcome, Failed> {
        if self.rank > 0 {
            return Ok(Outcome::default());
        }
        let kernel: PingPong = order.kernel(order.ranks)?;
        let AtBorder { stamping, inserted } = order.at_border.unwrap_or_default();
        let rounds = kernel.messages;
        let ticks = match stamping {
            Stamping::Lines => (self.lines)(rounds, blocks(inserted), &self.clock),
            Stamping::Pair => self.pairs(rounds),
            _ => self.round_trips(rounds)?,
        };
        let (ticks, count) = (i64::try_from(ticks).unwrap_or(i64::MAX), rounds.into());
        let timed = Some(Timed { ticks, count });
        Ok(Outcome { timed, ..Outcome::default() })
    }
}

/// Blocks of the computation that each side of an exchange does.
fn blocks(inserted: Option<(Border, Delay)>) -> u32 {
    inserted.map_or(0, |(_, computation)| computation.iterations)
}

//! Runs both sides of a message on one processor, which gives the software's share of its time.

use bandgap_comm::division::{BareTrips, BothEnds};
use bandgap_comm::{Am as _, Bulk, Rank, Result, Timed, Timer as _, Waiting};
use bandgap_host::CycleClock;
use bandgap_kernels::{ECHO, Executor, Failed, Order, Outcome, PingPong};

use crate::watch::RankWatch;

/// Both ends of a connection, at one rank.
pub(crate) struct Together<E> {
    ends: [Executor<E, CycleClock, RankWatch>; 2],
    bare: Box<BareTrips<CycleClock>>,
    clock: CycleClock,
    rank: Rank,
}

impl<E: Bulk> Together<E> {
    pub fn of(
        rank: Rank,
        ([requester, replier], bare): BothEnds<E, CycleClock>,
        watch: &RankWatch,
        clock: CycleClock,
    ) -> Result<Self> {
        let end = |end| Executor::new(end, None, Waiting::Spin, watch.clone(), clock);
        Ok(Self { ends: [end(requester)?, end(replier)?], bare, clock, rank })
    }

    /// Makes `rounds` round trips, with a stamp after each side, and returns their ticks. Each side waits only for a message
    /// that has already arrived, so the processor never idles.
    ///
    /// Unlike elsewhere, the requester does not poll after a send: that poll is part of the wait.
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

    /// Only the first rank does anything.
    pub fn run(&mut self, order: &Order) -> Result<Outcome, Failed> {
        if self.rank > 0 {
            return Ok(Outcome::default());
        }
        let kernel: PingPong = order.kernel(order.ranks)?;
        let (at, rounds) = (order.at_border.unwrap_or_default(), kernel.messages);
        let ticks = match (self.bare)(at, rounds, &self.clock) {
            Some(ticks) => ticks,
            None => self.round_trips(rounds)?,
        };
        let (ticks, count) = (i64::try_from(ticks).unwrap_or(i64::MAX), rounds.into());
        let timed = Some(Timed { ticks, count, ..Timed::default() });
        Ok(Outcome { timed, ..Outcome::default() })
    }
}

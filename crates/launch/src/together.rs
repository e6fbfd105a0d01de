//! Both sides of a message on one processor: what of its time is software.

use bandgap_comm::division::{BareTrips, BothEnds};
use bandgap_comm::{Am as _, Bulk, Rank, Result, Timed, Timer as _, Waiting};
use bandgap_host::CycleClock;
use bandgap_kernels::{ECHO, Executor, Failed, Order, Outcome, PingPong};

use crate::watch::RankWatch;

/// Both ends of a connection of this rank's own.
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
        let timed = Some(Timed { ticks, count });
        Ok(Outcome { timed, ..Outcome::default() })
    }
}

//! A rank's end of a transport, as whoever gives it orders sees it.

use std::time::Duration;

use bandgap_comm::passing::Tuning;
use bandgap_comm::{
    AnyEndpoint, Bulk, Delay, Rank, Rendezvous, Result, Stamped, Transport, Waiting, Watch,
};
use bandgap_host::CycleClock;
use bandgap_kernels::{Executor, Failed, Order, Outcome};
use bandgap_units::Library;

use crate::stamped::{StampedEnd, StampedExecutor};
use crate::together::Together;
use crate::watch::RankWatch;

/// Carries out orders, and passes letters between ranks beside all measurement.
///
/// One call of a trait object for a batch; below it everything is compiled for its transport.
pub trait Machine {
    /// Carries out this rank's part of an order.
    ///
    /// # Errors
    /// It cannot be carried out, what arrived was wrong, or communication failed.
    fn run(&mut self, order: &Order) -> Result<Outcome, Failed>;
    /// Sends a letter to another rank.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn post(&mut self, to: Rank, letter: &[u8]) -> Result<()>;
    /// Waits for a letter from another rank.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn receive(&mut self, from: Rank) -> Result<Vec<u8>>;
    /// Does what this rank owes its peers, so that it may stop polling for a while.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn settle(&mut self) -> Result<()>;
    /// Makes progress where what was sent needs it ([`bandgap_comm::Endpoint::tended`]), while this rank waits for something
    /// else that a peer does after a message. Returns false where it never does.
    ///
    /// # Errors
    /// A peer is gone or sent what no peer may send.
    fn tend(&mut self) -> Result<bool>;
    /// Looks whether the run goes on, after a wait of so long for something else.
    ///
    /// # Errors
    /// A peer is gone, the run was stopped, or the deadline passed.
    fn look(&mut self, waited: Duration, waiting_for: &'static str) -> Result<()>;
    /// Requests that flow control lets be outstanding toward one peer.
    fn capacity(&self) -> usize;
    /// The library that messages go through, if it is one.
    fn library(&self) -> Option<Library> {
        None
    }
    /// Times computations of `delay` by themselves, so many for each sample, in ticks.
    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<u64>;
}

/// What carries out orders over a transport.
pub type RigOver<T> = Executor<<T as Transport>::Endpoint, CycleClock, RankWatch>;

/// What carries out orders over all transports whose calls go through a pointer.
pub type AnyRig = Executor<AnyEndpoint, CycleClock, RankWatch>;

/// What a machine is made of beside its end of a transport.
pub struct Parts {
    /// The clock that stamps.
    pub clock: CycleClock,
    /// How the rank waits.
    pub waiting: Waiting,
    /// What it looks at while it does.
    pub watch: RankWatch,
    /// How message passing cuts messages.
    pub tuning: Tuning,
}

impl Parts {
    /// What carries out orders over this end of a transport. Message passing has its slots in the
    /// exposed memory, if there is room for them.
    ///
    /// # Errors
    /// The slots do not fit.
    pub fn executor<E: Bulk>(self, endpoint: E) -> Result<Executor<E, CycleClock, RankWatch>> {
        let Self { clock, waiting, watch, tuning } = self;
        let room = endpoint.exposed() >= tuning.memory(endpoint.size());
        let slots = room.then_some((0, &tuning));
        Executor::new(endpoint, slots, waiting, watch, clock)
    }

    /// What carries out orders over any endpoint. It is compiled here, and not where the endpoint comes from.
    ///
    /// # Errors
    /// As [`Parts::executor`].
    pub fn any(self, end: AnyEndpoint) -> Result<Box<dyn Machine>> {
        Ok(Box::new(self.executor(end)?))
    }

    /// The end of transport `T` that takes stamps.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    pub fn stamped<T: Stamped>(self, meeting: &mut dyn Rendezvous) -> Result<Box<dyn StampedEnd>> {
        let Self { clock, waiting, watch, .. } = self;
        let (endpoint, stamper) = T::stamped(meeting, clock)?;
        let executor = Executor::new(endpoint, None, waiting, watch, clock)?;
        Ok(Box::new(StampedExecutor { executor, stamper }))
    }

    /// Both ends of transport `T` on this processor.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn together<T: bandgap_comm::Together>(
        self,
        meeting: &mut dyn Rendezvous,
    ) -> Result<Box<dyn StampedEnd>> {
        let Self { clock, watch, .. } = self;
        Ok(Box::new(Together::of(meeting.rank(), T::both_ends()?, &watch, clock)?))
    }
}

impl<E: Bulk> Machine for Executor<E, CycleClock, RankWatch> {
    fn run(&mut self, order: &Order) -> Result<Outcome, Failed> {
        self.execute(order)
    }

    fn post(&mut self, to: Rank, letter: &[u8]) -> Result<()> {
        Self::post(self, to, letter)
    }

    fn receive(&mut self, from: Rank) -> Result<Vec<u8>> {
        let letter = self.letter(from)?;
        // The sender waits until its requests are known to have been handled.
        self.active().settle()?;
        Ok(letter)
    }

    fn settle(&mut self) -> Result<()> {
        self.active().settle()
    }

    fn tend(&mut self) -> Result<bool> {
        let tended = self.endpoint().tended();
        if tended {
            self.active().poll()?;
        }
        Ok(tended)
    }

    fn look(&mut self, waited: Duration, waiting_for: &'static str) -> Result<()> {
        self.active().watch_mut().check(waited, waiting_for)
    }

    fn capacity(&self) -> usize {
        self.endpoint().capacity()
    }

    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<u64> {
        Self::time_delay(self, delay, messages, samples)
    }
}

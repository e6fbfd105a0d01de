//! A rank's end of a transport, which carries out orders.

use std::time::Duration;

use bandgap_comm::passing::Tuning;
use bandgap_comm::{
    AnyEndpoint, Bulk, Delay, Rank, Rendezvous, Result, Stamped, Together as BothEnds, Transport,
    Waiting, Watch,
};
use bandgap_host::CycleClock;
use bandgap_kernels::{Executor, Failed, Order, Outcome};
use bandgap_units::Library;

use crate::stamped::{StampedEnd, StampedExecutor};
use crate::together::Together;
use crate::watch::RankWatch;

/// Carries out orders, and passes letters between ranks apart from all measurement.
///
/// A batch takes one call of this trait's object; the code below it is compiled for the transport.
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
    /// Completes what this rank owes its peers, so that it may stop polling for a while.
    ///
    /// # Errors
    /// A peer is gone, or a deadline passed.
    fn settle(&mut self) -> Result<()>;
    /// Makes progress on sent messages that need it ([`bandgap_comm::Endpoint::tended`]) while this rank waits for
    /// something that a peer does after a message. Returns false if messages never need it.
    ///
    /// # Errors
    /// A peer is gone or broke the protocol.
    fn tend(&mut self) -> Result<bool>;
    /// Checks whether the run goes on, after a wait of `waited` for something else.
    ///
    /// # Errors
    /// A peer is gone, the run was stopped, or the deadline passed.
    fn look(&mut self, waited: Duration, waiting_for: &'static str) -> Result<()>;
    /// Most requests that flow control allows outstanding toward a peer.
    fn capacity(&self) -> usize;
    /// The library that carries the messages, if any.
    fn library(&self) -> Option<Library> {
        None
    }
    /// Times computations of `delay` alone, `messages` of them for each sample, in ticks.
    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<u64>;
}

/// The executor of orders over a transport.
pub type RigOver<T> = Executor<<T as Transport>::Endpoint, CycleClock, RankWatch>;

/// The executor of orders over all transports whose calls go through a pointer.
pub type AnyRig = Executor<AnyEndpoint, CycleClock, RankWatch>;

/// The parts of a machine apart from its end of a transport.
pub struct Parts {
    /// The clock that stamps.
    pub clock: CycleClock,
    /// How the rank waits.
    pub waiting: Waiting,
    /// What ends a wait.
    pub watch: RankWatch,
    /// How message passing cuts messages.
    pub tuning: Tuning,
}

impl Parts {
    /// The executor of orders over this end of a transport. Message passing has its slots in the exposed
    /// memory, if they fit there.
    ///
    /// # Errors
    /// The slots do not fit.
    pub fn executor<E: Bulk>(self, endpoint: E) -> Result<Executor<E, CycleClock, RankWatch>> {
        let Self { clock, waiting, watch, tuning } = self;
        let room = endpoint.exposed() >= tuning.memory(endpoint.size());
        let slots = room.then_some((0, &tuning));
        Executor::new(endpoint, slots, waiting, watch, clock)
    }

    /// The machine over this end of a transport.
    ///
    /// # Errors
    /// As [`Parts::executor`].
    pub fn machine<E: Bulk>(self, end: E) -> Result<Box<dyn Machine>> {
        Ok(Box::new(self.executor(end)?))
    }

    /// The end of transport `T` that takes stamps.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    pub fn stamped<T: Stamped>(self, meeting: &mut Rendezvous<'_>) -> Result<StampedEnd> {
        let Self { clock, waiting, watch, .. } = self;
        let (endpoint, stamper) = T::stamped(meeting, clock)?;
        let executor = Executor::new(endpoint, None, waiting, watch, clock)?;
        let mut end = StampedExecutor { executor, stamper };
        Ok(Box::new(move |order| end.run(order)))
    }

    /// Both ends of transport `T` on this processor.
    ///
    /// # Errors
    /// The operating system refused.
    pub fn together<T: BothEnds>(self, meeting: &mut Rendezvous<'_>) -> Result<StampedEnd> {
        let Self { clock, watch, .. } = self;
        let mut end = Together::of(meeting.rank, T::both_ends()?, &watch, clock)?;
        Ok(Box::new(move |order| end.run(order)))
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
        // The sender waits until it knows that its requests were handled.
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

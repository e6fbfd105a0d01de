//! A rank whose message passing is that of a library: its own messages and collectives serve kernels over message passing;
//! frames over its messages serve kernels over Active Messages, and orders.

use std::rc::Rc;
use std::time::Duration;

use bandgap_comm::collectives::{Broadcast, Collective, Sum, dissemination};
use bandgap_comm::{
    Comm, CommError, Credited, Delay, Part, Pending, Processor, Rank, Result, Stamp, Watch, Work,
};
use bandgap_host::CycleClock;
use bandgap_kernels::{
    Added, Arrived, Entry, Executor, Failed, Needs, Order, Outcome, Over, Rig, carry_out_active,
    carry_out_passing, fact, is_counted,
};
use bandgap_tagged::{Library, Tagged, TaggedLink};

use crate::machine::{Machine, Parts};
use crate::watch::RankWatch;

/// Most outstanding requests toward a peer.
const CREDITS: u16 = 32;

/// The executor of Active Messages over such a library.
pub type Active<T> = Executor<Credited<TaggedLink<T>>, CycleClock, RankWatch>;

/// A rank that uses the message passing of a library.
pub struct Foreign<T: Tagged> {
    executor: Active<T>,
    library: Library<T>,
    described: Described<T>,
    /// Messages received in the current order, without those of barriers.
    received: u64,
    /// Why the ranks of the current order have no communicator.
    refused: Option<CommError>,
}

/// What a run file says of a library.
pub type Described<T> = fn(&T) -> bandgap_units::Library;

impl<T: Tagged> Foreign<T> {
    /// A rank that exposes this many bytes.
    ///
    /// # Errors
    /// The library refused.
    pub fn of(world: Rc<T>, exposed: usize, parts: Parts, described: Described<T>) -> Result<Self> {
        let link = TaggedLink::new(Rc::clone(&world), exposed)?;
        let executor = parts.executor(Credited::new(link, CREDITS))?;
        let library = Library::new(world)?;
        Ok(Self { executor, library, described, received: 0, refused: None })
    }

    /// The library.
    pub fn world(&self) -> &Rc<T> {
        self.library.world()
    }
}

/// Adds ranks over such a library to those that a kernel is compiled for.
pub fn on<E: Entry, T: Tagged>(kernel: Added) -> Added {
    kernel.passing::<E, Foreign<T>>().active::<E, Active<T>>()
}

impl<T: Tagged> Processor for Foreign<T> {
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.executor.rank()
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.executor.size()
    }

    #[inline(always)]
    fn mark(&mut self) {
        self.executor.mark();
    }

    #[inline(always)]
    fn compute(&mut self, work: Work) {
        self.executor.compute(work);
    }
}

impl<T: Tagged> Rig for Foreign<T> {
    fn whole(&self) -> usize {
        self.executor.whole()
    }

    fn begin(&mut self, ranks: usize) -> u64 {
        let takes_part = self.executor.rank() < ranks;
        self.refused = takes_part.then(|| self.library.over(ranks).err()).flatten();
        self.executor.begin(ranks)
    }

    fn prepare(&mut self, needs: &Needs, marks: usize) {
        self.executor.prepare(needs, marks);
    }

    fn resize(&mut self, bytes: usize) {
        self.library.resize(bytes);
    }

    fn memory(&mut self) -> &mut [u8] {
        self.library.memory_mut()
    }

    fn marks(&self) -> &[Stamp] {
        self.executor.marks()
    }

    /// A library does not tell how many messages no receive has taken.
    fn arrived(&self) -> Arrived {
        Arrived { messages: self.received, ..Arrived::default() }
    }

    fn meet(&mut self) -> Result<()> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        self.executor.meet()?;
        // This rank completes what it owes now: it does not poll while it waits inside the library.
        self.executor.active().settle()
    }

    fn settle(&mut self) -> Result<()> {
        Rig::settle(&mut self.executor)
    }

    fn forget(&mut self) {
        self.received = 0;
        self.executor.forget();
    }
}

impl<T: Tagged> Comm for Foreign<T> {
    const LIBRARY: bool = T::COLLECTIVES;
    type Pending = T::Request;

    #[inline(always)]
    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<T::Request>> {
        self.library.isend(peer, tag, from)
    }

    #[inline(always)]
    fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<Pending<T::Request>> {
        self.received += u64::from(is_counted(tag));
        self.library.irecv(peer, tag, into)
    }

    #[inline(always)]
    fn wait(&mut self, pending: Pending<T::Request>) -> Result<()> {
        self.library.wait(pending)
    }

    #[inline(always)]
    fn wait_all(&mut self, pending: &mut Vec<Pending<T::Request>>) -> Result<()> {
        self.library.wait_all(pending)
    }

    #[inline(always)]
    fn own(&mut self) -> Option<&mut [u8]> {
        Some(self.library.memory_mut())
    }

    #[inline(always)]
    fn send(&mut self, peer: Rank, tag: u32, from: Part) -> Result<()> {
        self.library.send(peer, tag, from)
    }

    #[inline(always)]
    fn recv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<()> {
        self.library.recv(peer, tag, into)?;
        self.received += u64::from(is_counted(tag));
        Ok(())
    }

    #[inline(always)]
    fn exchange(&mut self, peer: Rank, tag: u32, from: Part, into: Part) -> Result<()> {
        self.library.exchange(peer, tag, from, into)?;
        self.received += u64::from(is_counted(tag));
        Ok(())
    }

    #[inline(always)]
    fn broadcast(&mut self, root: Rank, part: Part) -> Result<()> {
        if !T::COLLECTIVES {
            return Broadcast::Binomial.run(self, root, part);
        }
        self.library.broadcast(root, part)?;
        self.received += u64::from(root != self.rank());
        Ok(())
    }

    #[inline(always)]
    fn sum(&mut self, from: Part, into: Part, scratch: Part) -> Result<()> {
        if !T::COLLECTIVES {
            return Sum::RecursiveDoubling.run(self, from, into, scratch);
        }
        self.library.sum(from, into)?;
        self.received += 1;
        Ok(())
    }

    #[inline(always)]
    fn collective(&mut self, of: Collective, root: Rank, from: Part, into: Part) -> Result<()> {
        self.library.collective(of, root, from, into)?;
        self.received += of.receives(true, self.rank(), root, self.size());
        Ok(())
    }

    #[inline(always)]
    fn barrier(&mut self) -> Result<()> {
        if T::COLLECTIVES { self.library.barrier() } else { dissemination(self) }
    }
}

impl<T: Tagged> Machine for Foreign<T> {
    fn run(&mut self, order: &Order) -> Result<Outcome, Failed> {
        match fact(&order.kernel)?.over {
            Over::Comm => match carry_out_passing(self, order) {
                // Of a collective: all ranks see it at the same operation.
                Err(Failed::Comm(CommError::Unavailable { reason })) => {
                    Ok(Outcome { unavailable: Some(reason), ..Outcome::default() })
                }
                carried => carried,
            },
            Over::Am | Over::Transfer | Over::Bare => carry_out_active(&mut self.executor, order),
        }
    }

    fn post(&mut self, to: Rank, letter: &[u8]) -> Result<()> {
        self.executor.post(to, letter)
    }

    fn receive(&mut self, from: Rank) -> Result<Vec<u8>> {
        Machine::receive(&mut self.executor, from)
    }

    fn settle(&mut self) -> Result<()> {
        Machine::settle(&mut self.executor)
    }

    fn tend(&mut self) -> Result<bool> {
        Machine::tend(&mut self.executor)
    }

    fn look(&mut self, waited: Duration, waiting_for: &'static str) -> Result<()> {
        self.executor.active().watch_mut().check(waited, waiting_for)
    }

    fn capacity(&self) -> usize {
        Machine::capacity(&self.executor)
    }

    fn library(&self) -> Option<bandgap_units::Library> {
        Some((self.described)(self.library.world()))
    }

    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<u64> {
        Machine::time_delay(&mut self.executor, delay, messages, samples)
    }
}

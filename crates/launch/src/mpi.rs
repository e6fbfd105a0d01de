//! The installed MPI as a transport: its own messages and collectives serve kernels over message passing; frames over its
//! messages serve kernels over Active Messages, and orders.

use std::cell::RefCell;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use bandgap_comm::collectives::Collective;
use bandgap_comm::{
    Can, Comm, CommError, Credited, Delay, Part, Pending, Processor, Rank, Rendezvous, Result,
    Stamp, Watch, Work,
};
use bandgap_host::CycleClock;
use bandgap_kernels::{
    Added, Arrived, Entry, Executor, Failed, Needs, Order, Outcome, Over, Rig, carry_out_active,
    carry_out_passing, fact, is_counted,
};
use bandgap_mpi::{Library, MpiLink, Request, World, command, find, start};

use crate::machine::{Machine, Parts};
use crate::watch::RankWatch;

/// Most outstanding requests toward a peer.
const CREDITS: u16 = 32;
/// Most ranks.
const RANKS: usize = 4096;

/// The transport's name on the command line and in run files.
pub const NAME: &str = "mpi";
/// A short description.
pub const MEANING: &str = "the MPI that is installed, found at run time";

/// Prefixes of the variables that configure an MPI and the layers below it.
const VARIABLES: [&str; 5] = ["OMPI_MCA_", "MPICH_", "MPIR_CVAR_", "UCX_", "FI_"];
/// Prefixes of those that a launcher sets for each job.
const OF_JOBS: [&str; 7] = [
    "OMPI_MCA_orte_",
    "OMPI_MCA_ess",
    "OMPI_MCA_pmix",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_mpi_oversubscribe",
    "OMPI_MCA_shmem_RUNTIME",
    "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
];

/// The transport's abilities.
pub const CAN: Can = Can {
    ranks: RANKS,
    hosts: true,
    launcher: true,
    once: true,
    messages: true,
    collectives: true,
    library: Some("--mpi-lib"),
    ..Can::USUAL
};

/// Connects this rank.
///
/// # Errors
/// There is no MPI, it refused, or it numbers the ranks differently.
pub fn connect(
    _inherited: Vec<OwnedFd>,
    exposed: usize,
    meeting: &mut Rendezvous<'_>,
    parts: Parts,
) -> Result<Box<dyn Machine>> {
    let world = match WORLD.with_borrow(Clone::clone) {
        Some(world) => world,
        None => start(find(meeting.library)?)?,
    };
    WORLD.set(Some(Rc::clone(&world)));
    let [there, size] = [world.rank, world.size];
    if [there, size] != [meeting.rank, meeting.size] {
        let (rank, ranks) = (meeting.rank, meeting.size);
        let what = format!("be rank {rank} of {ranks}: MPI says {there} of {size}");
        return Err(CommError::SetUp(what.into()));
    }
    let link = MpiLink::new(Rc::clone(&world), exposed)?;
    let executor = parts.executor(Credited::new(link, CREDITS))?;
    let library = Library::new(world)?;
    Ok(Box::new(Foreign { executor, library, received: 0, refused: None }))
}

thread_local! {
    /// The MPI of this process, which can be initialised only once.
    static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

/// Finalises MPI, if it was initialised. All ranks do so once their machines have ended.
///
/// # Errors
/// MPI refused.
pub fn finalize() -> Result<()> {
    Ok(WORLD.take().map_or(Ok(()), World::finalize)?)
}

/// Adds this transport to those that a kernel is compiled for.
pub fn on<E: Entry>(kernel: Added) -> Added {
    kernel.passing::<E, Foreign>().active::<E, Active>()
}

type Active = Executor<Credited<MpiLink>, CycleClock, RankWatch>;

/// A rank that uses the message passing of an MPI.
pub struct Foreign {
    executor: Active,
    library: Library,
    /// Messages received in the current order, without those of barriers.
    received: u64,
    /// Why the ranks of the current order have no communicator.
    refused: Option<CommError>,
}

impl Processor for Foreign {
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

impl Rig for Foreign {
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

    /// MPI does not tell how many messages no receive has taken.
    fn arrived(&self) -> Arrived {
        Arrived { messages: self.received, ..Arrived::default() }
    }

    fn meet(&mut self) -> Result<()> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        self.executor.meet()?;
        // This rank completes what it owes now: it does not poll while it waits inside MPI.
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

impl Comm for Foreign {
    const LIBRARY: bool = true;
    type Pending = Request;

    #[inline(always)]
    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<Request>> {
        self.library.isend(peer, tag, from)
    }

    #[inline(always)]
    fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<Pending<Request>> {
        self.received += u64::from(is_counted(tag));
        self.library.irecv(peer, tag, into)
    }

    #[inline(always)]
    fn wait(&mut self, pending: Pending<Request>) -> Result<()> {
        self.library.wait(pending)
    }

    #[inline(always)]
    fn wait_all(&mut self, pending: &mut Vec<Pending<Request>>) -> Result<()> {
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
        self.library.broadcast(root, part)?;
        self.received += u64::from(root != self.rank());
        Ok(())
    }

    #[inline(always)]
    fn sum(&mut self, from: Part, into: Part, _scratch: Part) -> Result<()> {
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
        self.library.barrier()
    }
}

impl Machine for Foreign {
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
        let is_its = |(name, _): &(String, String)| {
            let begins = |all: &[&str]| all.iter().any(|with| name.starts_with(with));
            begins(&VARIABLES) && !begins(&OF_JOBS)
        };
        let text = |of: OsString| of.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
        let world = WORLD.with_borrow(Clone::clone)?;
        Some(bandgap_units::Library {
            name: world.loaded.name(),
            version: world.loaded.version.trim().to_owned(),
            path: world.loaded.path.display().to_string(),
            launcher: command(),
            environment: variables.filter(is_its).collect(),
        })
    }

    fn time_delay(&mut self, delay: Delay, messages: u32, samples: u32) -> Vec<u64> {
        Machine::time_delay(&mut self.executor, delay, messages, samples)
    }
}

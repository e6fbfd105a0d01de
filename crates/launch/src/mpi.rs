//! The installed MPI as a transport.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bandgap_comm::{Can, CommError, Rendezvous, Result};
use bandgap_host::ClockSource;
use bandgap_kernels::{Added, Entry};
use bandgap_mpi::{World, command, find, start};

use crate::foreign::{self, Foreign};
use crate::inside::{self, Learnt};
use crate::machine::{Machine, Parts};
use crate::stamped::StampedEnd;

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
        None => start(find(meeting.library)?, meeting.stamped)?,
    };
    WORLD.set(Some(Rc::clone(&world)));
    let [there, size] = [world.rank, world.size];
    if [there, size] != [meeting.rank, meeting.size] {
        let (rank, ranks) = (meeting.rank, meeting.size);
        let what = format!("be rank {rank} of {ranks}: MPI says {there} of {size}");
        return Err(CommError::SetUp(what.into()));
    }
    Ok(Box::new(Foreign::of(world, exposed, parts, described)?))
}

/// Connects this rank's end that takes stamps inside the library.
///
/// # Errors
/// MPI was started without them, or refused.
pub fn stamped(_: &mut Rendezvous<'_>, parts: Parts) -> Result<StampedEnd> {
    let world = WORLD.with_borrow(Clone::clone).filter(|world| world.inside().is_some());
    let clock = parts.clock;
    let counts = clock.report().source == ClockSource::CycleCounter;
    let Some(world) = world.filter(|_| counts) else {
        let what = "stamp inside MPI: this process began without stamps, or has no cycle counter";
        return Err(CommError::SetUp(what.into()));
    };
    let (mut rank, learnt) = (Foreign::of(world, 0, parts, described)?, Learnt::default());
    Ok(Box::new(move |order| inside::run(&mut rank, &clock, &learnt, order)))
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
    foreign::on::<E, World>(kernel)
}

fn described(world: &World) -> bandgap_units::Library {
    let of = &world.loaded;
    let named = [of.name(), of.version.trim().to_owned()];
    let described = foreign::described(named, &of.path, &VARIABLES, &OF_JOBS);
    bandgap_units::Library { launcher: command(), ..described }
}

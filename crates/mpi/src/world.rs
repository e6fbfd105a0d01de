//! An initialised MPI.

use std::cell::RefCell;
use std::ffi::c_int;
use std::rc::Rc;

use bandgap_comm::Rank;
use bandgap_probe::Probe;

use crate::api::Api;
use crate::launcher::started;
use crate::{Handle, Launcher, Loaded, MpiError, Result, Started};

/// An initialised MPI with all ranks of the run.
///
/// Dropping it does not finalise MPI: finalising would wait for the other ranks, and a rank whose
/// run failed must not wait.
pub struct World {
    pub(crate) api: Api,
    /// The library.
    pub loaded: Loaded,
    /// This process's rank.
    pub rank: Rank,
    /// Number of ranks.
    pub size: usize,
    pub(crate) room: RefCell<Room>,
    /// Stamps inside the library, if it was started for them.
    pub(crate) probe: Option<RefCell<Probe>>,
}

/// What calls of MPI take as arrays.
pub(crate) struct Room {
    /// Doubles of each member's block in a reduce-scatter.
    pub(crate) counts: Vec<c_int>,
    /// Requests that are being waited for together.
    pub(crate) together: Vec<Handle>,
}

/// Requests for which there is room from the beginning: a window of 512 messages both ways.
const TOGETHER: usize = 1 << 10;

impl World {
    /// Initialises MPI for a single thread. Support for more threads makes Open MPI 4 take 50 %
    /// more time.
    pub(crate) fn init(loaded: Loaded, stamped: bool) -> Result<Self> {
        const SINGLE: c_int = 0;
        let api = Api::of(&loaded)?;
        let probe = stamped.then(|| before(&loaded)).transpose()?;
        let (mut given, mut rank, mut size) = (0, 0, 0);
        // SAFETY: null pointers stand for the arguments of main.
        unsafe {
            let nothing = std::ptr::null_mut();
            api.init_thread(nothing, nothing.cast(), SINGLE, &mut given)?;
            api.set_errhandler(api.world, api.errors_return)?;
            api.comm_rank(api.world, &mut rank)?;
            api.comm_size(api.world, &mut size)?;
        }
        let (rank, size) = (rank as Rank, size as usize);
        let (counts, together) = (Vec::with_capacity(size), Vec::with_capacity(TOGETHER));
        let room = RefCell::new(Room { counts, together });
        Ok(Self { api, loaded, rank, size, room, probe })
    }

    /// Finalises MPI. Every rank must call it, and it may wait for them. This process cannot use
    /// MPI afterwards.
    ///
    /// # Errors
    /// [`MpiError::InUse`] while libraries or links exist; [`MpiError::Refused`].
    pub fn finalize(self: Rc<Self>) -> Result<()> {
        let others = Rc::strong_count(&self) - 1;
        let world = Rc::into_inner(self).ok_or(MpiError::InUse(others))?;
        // SAFETY: the function has this type. Nothing uses MPI any more.
        unsafe { world.api.finalize() }
    }
}

/// Variables with which an MPI lets UCX carry its messages, within a host too: Open MPI would leave some of UCX's transports to
/// others, and MPICH uses shared memory of its own.
pub const OVER_UCX: [(&str, &str); 4] = [
    ("OMPI_MCA_pml", "ucx"),
    ("OMPI_MCA_pml_ucx_tls", "any"),
    ("OMPI_MCA_pml_ucx_devices", "any"),
    ("MPIR_CVAR_NOLOCAL", "1"),
];

/// Prepares stamps before the library is initialised, and lets UCX carry its messages as far as the user has not said what
/// does.
fn before(loaded: &Loaded) -> crate::Result<RefCell<Probe>> {
    let is_its = |(name, _): &(&str, &str)| {
        name.starts_with("OMPI") == loaded.is_open_mpi() && std::env::var_os(name).is_none()
    };
    for (name, value) in OVER_UCX.into_iter().filter(is_its) {
        // SAFETY: a rank has one thread until it initialises MPI.
        unsafe { std::env::set_var(name, value) };
    }
    Ok(Probe::new()?.into())
}

/// Initialises the library for a single thread. Fails unless the library sees as many ranks as were
/// started: a library that does not belong to the launcher takes each rank for a run of its own. `stamped`: ranks will
/// take stamps inside it ([`World::inside`]).
///
/// # Errors
/// [`MpiError::WrongLauncher`]; or MPI refused.
pub fn start(loaded: Loaded, stamped: bool) -> Result<Rc<World>> {
    let run = started();
    // These libraries would exit or hang during initialisation.
    if let Some(run) = run
        && run.size > 1
        && match run.by {
            Launcher::OpenMpi => !loaded.knows_pmix(),
            Launcher::Srun => loaded.is_open_mpi() && std::env::var_os("PMIX_RANK").is_none(),
            Launcher::Hydra => false,
        }
    {
        return Err(wrong(run, &loaded, None));
    }
    loaded.show()?;
    let world = Rc::new(World::init(loaded, stamped)?);
    world.complete()?;
    if let Some(run) = run.filter(|run| run.size != world.size) {
        let error = wrong(run, &world.loaded, Some(world.size));
        // An MPI that is not finalised may complain at exit. Each rank is a run of its own, so it
        // waits for nobody.
        return if world.size == 1 { world.finalize().and(Err(error)) } else { Err(error) };
    }
    Ok(world)
}

#[cold]
fn wrong(run: Started, loaded: &Loaded, seen: Option<usize>) -> MpiError {
    let name = loaded.name();
    let cure = match (run.by, loaded.is_open_mpi()) {
        (Launcher::Srun, true) => "use srun --mpi=pmix".to_owned(),
        (Launcher::Srun, false) => "use srun --mpi=pmi2".to_owned(),
        (by, _) => {
            let own = loaded.launcher().map(|program| program.display().to_string());
            let own = own.unwrap_or_else(|| format!("the mpiexec of {name}"));
            format!("start them with {own}, or name the library of {}", by.name())
        }
    };
    let (launcher, expected) = (run.by.name(), run.size);
    MpiError::WrongLauncher { launcher, expected, library: name, seen, cure }
}

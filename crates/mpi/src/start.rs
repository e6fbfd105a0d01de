//! From an opened library to a world of ranks, and what speaks against it.

use std::rc::Rc;

use crate::launcher::started;
use crate::{Launcher, Loaded, MpiError, Started, World};

/// Initialises the library, with one thread. Only where as many ranks are seen as were started: a library that does not
/// belong to the launcher takes each of them for a run of its own.
///
/// # Errors
/// [`MpiError::WrongLauncher`]; [`MpiError::Again`]; or MPI refused.
pub fn start(loaded: Loaded) -> Result<Rc<World>, MpiError> {
    let run = started();
    // Its initialisation would end or hang.
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
    let world = Rc::new(World::init(loaded)?);
    if let Some(run) = run.filter(|run| run.size != world.size()) {
        let error = wrong(run, &world.loaded, Some(world.size()));
        // An MPI that was not ended may say so. Each rank is a run of its own, which waits for nobody.
        return if world.size() == 1 { world.finalize().and(Err(error)) } else { Err(error) };
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

//! From an opened library to a world of ranks, and what speaks against it.

use std::rc::Rc;

use crate::launcher::started;
use crate::{Abi, Family, Launcher, Loaded, Mpi5, MpiError, Mpich, OpenMpi, Started, World};

/// What is done with an MPI, compiled for each family.
pub trait Visitor {
    /// What it returns.
    type Out;
    /// Does it.
    fn visit<A: Abi>(self, world: Rc<World<A>>) -> Self::Out;
}

/// Initialises the library, with one thread, and hands it to `visitor`. Only where as many ranks are seen as were started:
/// a library that does not belong to the launcher takes each of them for a run of its own.
///
/// # Errors
/// [`MpiError::WrongLauncher`]; [`MpiError::Again`]; or MPI refused.
pub fn start<V: Visitor>(loaded: Loaded, visitor: V) -> Result<V::Out, MpiError> {
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
    match loaded.family {
        Family::Mpich => visit::<Mpich, V>(loaded, run, visitor),
        Family::OpenMpi => visit::<OpenMpi, V>(loaded, run, visitor),
        Family::Mpi5 => visit::<Mpi5, V>(loaded, run, visitor),
    }
}

fn visit<A: Abi, V: Visitor>(
    loaded: Loaded,
    run: Option<Started>,
    visitor: V,
) -> Result<V::Out, MpiError> {
    let world = Rc::new(World::<A>::init(loaded)?);
    if let Some(run) = run.filter(|run| run.size != world.size()) {
        let error = wrong(run, &world.loaded, Some(world.size()));
        // An MPI that was not ended may say so. Each rank is a run of its own, which waits for nobody.
        return if world.size() == 1 { world.finalize().and(Err(error)) } else { Err(error) };
    }
    Ok(visitor.visit(world))
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

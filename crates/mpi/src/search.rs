//! Where to look for an MPI, and which of several to take.

use std::path::{Path, PathBuf};

use crate::launcher::{prefix, started};
use crate::{Launcher, Loaded, MpiError, Result};

/// Names of libraries with the standard's or MPICH's interface, the standard's first. The last is
/// Debian's name.
const MPICH: &[&str] = &["libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"];
/// Name of Open MPI's library, since version 4.
const OPEN_MPI: &[&str] = &["libmpi.so.40"];

/// Opens the MPI to use. That is the library `named`, if given. Otherwise it is, in this order: the
/// library of this process's launcher, found from the environment and from the folder of an
/// ancestor's program; one that the loader finds; that of the mpirun on PATH. If the loader finds
/// several and no launcher decides, the family of the mpirun on PATH comes first.
///
/// # Errors
/// [`MpiError::NotFound`]; or why the named library cannot be used.
pub fn find(named: Option<&Path>) -> Result<Loaded> {
    if let Some(path) = named {
        return Loaded::open(path);
    }
    let mut looked = Vec::new();
    for path in places() {
        match Loaded::open(&path) {
            Ok(loaded) => return Ok(loaded),
            Err(error) => looked.push(error.to_string().trim_start_matches("open ").to_owned()),
        }
    }
    Err(MpiError::NotFound(looked))
}

/// Where [`find`] looks if no library is named, in this order: files, and names that the loader
/// resolves.
pub fn places() -> Vec<PathBuf> {
    let on_path = ["mpirun", "mpiexec"].into_iter().find_map(on_path);
    let names = match started().map(|started| started.by) {
        Some(Launcher::OpenMpi) => OPEN_MPI.to_vec(),
        Some(Launcher::Hydra) => MPICH.to_vec(),
        Some(Launcher::Srun) if std::env::var_os("PMI_RANK").is_none() => {
            [OPEN_MPI, MPICH].concat()
        }
        None if on_path.as_deref().and_then(Launcher::of) == Some(Launcher::OpenMpi) => {
            [OPEN_MPI, MPICH].concat()
        }
        _ => [MPICH, OPEN_MPI].concat(),
    };
    let within = |prefix: PathBuf| {
        let folders = ["lib", "lib64"].map(|folder| prefix.join(folder)).into_iter();
        folders.flat_map(|folder| names.iter().map(move |name| folder.join(name)))
    };
    let beside = on_path.as_deref().and_then(|program| program.ancestors().nth(2));
    let mut places: Vec<_> = prefix().into_iter().flat_map(within).collect();
    places.extend(names.iter().map(PathBuf::from));
    places.extend(beside.map(Path::to_owned).into_iter().flat_map(within));
    places.retain(|place| place.is_relative() || place.exists());
    places
}

/// Where an MPI may be: [`places`], and then every name that the loader may know.
pub fn everywhere() -> Vec<PathBuf> {
    let mut all = places();
    let names = MPICH.iter().chain(OPEN_MPI).map(PathBuf::from);
    all.extend(names.filter(|name| !all.contains(name)).collect::<Vec<_>>());
    all
}

impl Loaded {
    /// The program that starts its ranks, if it is found: in the `bin` of a folder above the
    /// library. If several MPIs share that `bin`, their names distinguish them.
    pub fn launcher(&self) -> Option<PathBuf> {
        let (names, other) = match self.is_open_mpi() {
            true => (["mpirun.openmpi", "mpirun", "mpiexec"], Launcher::Hydra),
            false => (["mpiexec.mpich", "mpiexec.hydra", "mpiexec"], Launcher::OpenMpi),
        };
        let folders = self.path.ancestors().skip(2).take(2).map(|prefix| prefix.join("bin"));
        let mut programs = folders.flat_map(|bin| names.map(|name| bin.join(name)));
        programs.find(|program| {
            program.canonicalize().is_ok_and(|real| Launcher::of(&real) != Some(other))
        })
    }
}

/// The program of this name on PATH, with symbolic links resolved.
fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).find_map(|folder| folder.join(name).canonicalize().ok())
}

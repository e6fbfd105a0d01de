//! Where an MPI is looked for, and which of several is taken.

use std::path::{Path, PathBuf};

use crate::launcher::{prefix, started};
use crate::{Launcher, Loaded, MpiError, Result};

/// Names of the libraries with the interface of the standard or MPICH's, the former first. Debian has its own.
const MPICH: &[&str] = &["libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"];
/// Name of Open MPI's, since version 4.
const OPEN_MPI: &[&str] = &["libmpi.so.40"];

/// Opens the MPI to use: the library `named`; or that of whoever started this process, by the environment and the folder
/// of a parent's program; or one that the loader finds; or that of the mpirun on PATH. The one of the mpirun on PATH comes
/// first where the loader finds several and no launcher decides.
///
/// # Errors
/// [`MpiError::NotFound`]; or why the library named is none.
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

/// Where [`find`] looks if no library is named, in this order: files, and names that the loader knows the place of.
pub fn places() -> Vec<PathBuf> {
    let on_path = ["mpirun", "mpiexec"].into_iter().find_map(on_path);
    let names = match started().map(|started| started.by) {
        Some(Launcher::OpenMpi) => OPEN_MPI.to_vec(),
        Some(Launcher::Hydra) => MPICH.to_vec(),
        Some(Launcher::Srun) if std::env::var_os("PMI_RANK").is_none() => both(OPEN_MPI, MPICH),
        None if on_path.as_deref().and_then(Launcher::of) == Some(Launcher::OpenMpi) => {
            both(OPEN_MPI, MPICH)
        }
        _ => both(MPICH, OPEN_MPI),
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

fn both(first: &[&'static str], second: &[&'static str]) -> Vec<&'static str> {
    [first, second].concat()
}

/// Every MPI at [`places`] and wherever the loader finds one, each once. Loads them all into this process, though nothing
/// is initialised: a process that measures leaves this to another.
pub fn found() -> Vec<Loaded> {
    let mut all: Vec<Loaded> = Vec::new();
    let others = both(MPICH, OPEN_MPI).into_iter().map(PathBuf::from);
    for found in places().into_iter().chain(others).filter_map(|path| Loaded::open(&path).ok()) {
        if all.iter().all(|other| other.path != found.path) {
            all.push(found);
        }
    }
    all
}

impl Loaded {
    /// The program that starts its ranks, where it is found: in the `bin` beside one of the folders above it. Where
    /// several MPIs share that `bin`, names tell them apart.
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

/// The program of this name on PATH, without links.
fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).find_map(|folder| folder.join(name).canonicalize().ok())
}

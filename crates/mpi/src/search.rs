//! Where an MPI is looked for, and which of several is taken.

use std::path::{Path, PathBuf};

use crate::launcher::{prefix, started};
use crate::{Family, Launcher, Loaded, MpiError};

/// Names of the libraries with the interface of MPICH or the standard's, the latter first. Debian has its own.
const MPICH: [&str; 4] = ["libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"];
/// Names of Open MPI's, since version 4.
const OPEN_MPI: [&str; 1] = ["libmpi.so.40"];
/// Folders of a prefix that libraries are in.
const FOLDERS: [&str; 2] = ["lib", "lib64"];

/// An MPI that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file of the library.
    pub path: PathBuf,
    /// Its name and number, such as `MPICH 4.0.2`.
    pub name: String,
    /// What it says of itself, in full.
    pub version: String,
    /// Its binary interface.
    pub family: Family,
    /// The program that starts its ranks, where that was found.
    pub launcher: Option<PathBuf>,
}

/// Opens the MPI to use: the library `named`; or that of whoever started this process, by the environment and the folder
/// of a parent's program; or one that the loader finds; or that of the mpirun on PATH. The one of the mpirun on PATH comes
/// first where the loader finds several and no launcher decides.
///
/// # Errors
/// [`MpiError::NotFound`]; or why the library named is none.
pub fn find(named: Option<&Path>) -> Result<Loaded, MpiError> {
    if let Some(path) = named {
        return Loaded::open(path);
    }
    let mut looked = Vec::new();
    for path in places() {
        match Loaded::open(&path) {
            Ok(loaded) => return Ok(loaded),
            Err(MpiError::Open { reason, .. }) => looked.push((path, brief(&reason))),
            Err(other) => looked.push((path, other.to_string())),
        }
    }
    Err(MpiError::NotFound { looked })
}

/// Where [`find`] looks if no library is named, in this order: files, and names that the loader knows the place of.
pub fn places() -> Vec<PathBuf> {
    let on_path = on_path("mpirun").or_else(|| on_path("mpiexec"));
    let program = on_path.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    let by = started().map(|started| started.by);
    let names = match by {
        Some(Launcher::OpenMpi) => OPEN_MPI.to_vec(),
        Some(Launcher::Hydra) => MPICH.to_vec(),
        Some(Launcher::Srun) if std::env::var_os("PMI_RANK").is_none() => both(&OPEN_MPI, &MPICH),
        None if program.and_then(Launcher::of_program) == Some(Launcher::OpenMpi) => {
            both(&OPEN_MPI, &MPICH)
        }
        _ => both(&MPICH, &OPEN_MPI),
    };
    let files = |prefix: PathBuf| {
        let folders = FOLDERS.map(|folder| prefix.join(folder));
        let files = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
        files.filter(|file| file.exists()).collect::<Vec<_>>()
    };
    let mut places = prefix().map(&files).unwrap_or_default();
    places.extend(names.iter().map(PathBuf::from));
    let beside = on_path.and_then(|program| Some(program.parent()?.parent()?.to_owned()));
    places.extend(beside.map(files).unwrap_or_default());
    places
}

fn both(first: &[&'static str], second: &[&'static str]) -> Vec<&'static str> {
    [first, second].concat()
}

/// Every MPI at [`places`], whoever started this process, each once. Loads them all into this process, though nothing is
/// initialised: a process that measures leaves this to another.
pub fn found() -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    let others = both(&MPICH, &OPEN_MPI).into_iter().map(PathBuf::from);
    for found in places().into_iter().chain(others).filter_map(|path| look(&path).ok()) {
        if all.iter().all(|other| other.path != found.path) {
            all.push(found);
        }
    }
    all
}

/// Looks at the library at `path`, without initialising it.
///
/// # Errors
/// As [`Loaded::open`].
pub fn look(path: &Path) -> Result<Found, MpiError> {
    let loaded = Loaded::open(path)?;
    let file = loaded.path();
    let path = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let launcher = launcher_of(&path, loaded.is_open_mpi());
    let (name, version, family) = (loaded.name(), loaded.version().to_owned(), loaded.family());
    Ok(Found { path, name, version, family, launcher })
}

/// The program that starts the ranks of the library at `path`: in the `bin` beside one of the folders above it. Where
/// several MPIs share that `bin`, names tell them apart.
pub(crate) fn launcher_of(path: &Path, open_mpi: bool) -> Option<PathBuf> {
    let (names, other) = match open_mpi {
        true => (["mpirun.openmpi", "mpirun", "mpiexec"], Launcher::Hydra),
        false => (["mpiexec.mpich", "mpiexec.hydra", "mpiexec"], Launcher::OpenMpi),
    };
    let folders = path.ancestors().skip(2).take(2).map(|prefix| prefix.join("bin"));
    let programs = folders.flat_map(|bin| names.map(|name| bin.join(name)));
    programs.into_iter().find(|program| {
        let real = program.canonicalize().ok();
        let name = real.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        name.is_some_and(|name| Launcher::of_program(name) != Some(other))
    })
}

/// The program of this name on PATH, without links.
fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut programs = std::env::split_paths(&folders).map(|folder| folder.join(name));
    programs.find_map(|program| program.canonicalize().ok())
}

/// The loader's reason without the name, which stands before it.
fn brief(reason: &str) -> String {
    reason.rsplit(": ").next().unwrap_or_default().to_owned()
}

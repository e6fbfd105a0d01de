//! What can go wrong with an MPI.

use std::path::PathBuf;

use bandgap_comm::CommError;

/// What is there, or why it is not.
pub(crate) type Result<T, E = MpiError> = std::result::Result<T, E>;

/// A failure to find, open or use an MPI.
#[derive(Debug, thiserror::Error)]
pub enum MpiError {
    /// No library could be opened. Where was looked, and why it was not that.
    #[error("find an MPI: name its library, or put its mpirun on PATH; looked for {}", .0.join(", "))]
    NotFound(Vec<String>),
    /// A file cannot be opened as a library, for this reason of the loader's.
    #[error("open {}: {reason}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the loader says.
        reason: String,
    },
    /// A library is for another kind of processor than this program.
    #[error("open {}: it is for another kind of processor than this program", .0.display())]
    Architecture(PathBuf),
    /// A library lacks a function or constant of MPI.
    #[error("use {} as an MPI: it has no {symbol}", .path.display())]
    NoSymbol {
        /// The file.
        path: PathBuf,
        /// The name of the function or constant.
        symbol: &'static str,
    },
    /// An MPI whose binary interface is not that of MPICH, Open MPI or the standard.
    #[error("use {}: the binary interface of {version:?} is not known", .path.display())]
    UnknownAbi {
        /// The file.
        path: PathBuf,
        /// What it says of itself.
        version: String,
    },
    /// The library does not belong to the launcher.
    #[error(
        "join the run: {launcher} started {expected} ranks, and {library} {}; {cure}",
        .seen.map_or("does not know it".to_owned(), |seen| format!("sees {seen}"))
    )]
    WrongLauncher {
        /// Who started this process.
        launcher: &'static str,
        /// How many ranks it started.
        expected: usize,
        /// The library.
        library: String,
        /// How many ranks the library sees; `None` where it was not asked, since its initialisation
        /// would end this process.
        seen: Option<usize>,
        /// What to do.
        cure: String,
    },
    /// MPI is initialised once in a process.
    #[error("initialise MPI again: a process does that once")]
    Again,
    /// MPI is not finalised while so many libraries or links use it.
    #[error("finalise MPI: {0} libraries or links still use it")]
    InUse(usize),
    /// A message is longer than a call of MPI takes.
    #[error("pass {0} bytes at once: MPI counts up to 2147483647")]
    TooLong(usize),
    /// MPI answered with an error code.
    #[error("{operation}: {text} (code {code})")]
    Refused {
        /// The function.
        operation: &'static str,
        /// What MPI says.
        text: String,
        /// Its code.
        code: i32,
    },
}

impl From<MpiError> for CommError {
    #[cold]
    #[inline(never)]
    fn from(error: MpiError) -> Self {
        match error {
            MpiError::Refused { .. } | MpiError::TooLong(_) => Self::Connect(Box::new(error)),
            other => Self::SetUp(Box::new(other)),
        }
    }
}

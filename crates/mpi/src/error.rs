//! Errors of finding, opening and using an MPI.

use std::path::PathBuf;

use bandgap_comm::CommError;
use bandgap_loader::OpenError;
use bandgap_probe::ProbeError;

/// Result of an operation on an MPI.
pub(crate) type Result<T, E = MpiError> = std::result::Result<T, E>;

/// A failure to find, open or use an MPI.
#[derive(Debug, thiserror::Error)]
pub enum MpiError {
    /// No library could be opened. Lists where this process looked, and why each candidate failed.
    #[error("find an MPI: name its library or put its mpirun on PATH (tried {})", .0.join(", "))]
    NotFound(Vec<String>),
    /// A file cannot be opened as a library.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A library lacks a function or constant of MPI.
    #[error("use {} as an MPI: the library has no {symbol}", .path.display())]
    NoSymbol {
        /// The file.
        path: PathBuf,
        /// The name of the function or constant.
        symbol: &'static str,
    },
    /// An MPI whose binary interface is not that of MPICH, Open MPI or the standard.
    #[error("use {}: unknown binary interface of {version:?}", .path.display())]
    UnknownAbi {
        /// The file.
        path: PathBuf,
        /// The library's description of itself.
        version: String,
    },
    /// The library does not match the launcher.
    #[error(
        "join the run: {launcher} started {expected} ranks, but {library} {}; {cure}",
        .seen.map_or("does not recognise it".to_owned(), |seen| format!("sees {seen}"))
    )]
    WrongLauncher {
        /// The launcher of this process.
        launcher: &'static str,
        /// The number of ranks that it started.
        expected: usize,
        /// The library.
        library: String,
        /// The number of ranks that the library sees; `None` if it was not initialised, since that
        /// would end this process.
        seen: Option<usize>,
        /// What to do about it.
        cure: String,
    },
    /// MPI cannot be finalised while this many libraries or links use it.
    #[error("finalise MPI: {0} libraries or links still use it")]
    InUse(usize),
    /// A message is longer than a call of MPI allows.
    #[error("pass {0} bytes at once: MPI's limit is 2147483647")]
    TooLong(usize),
    /// The library lacks a collective operation.
    #[error("the library has no {0}")]
    Missing(&'static str),
    /// No stamps can be taken inside it.
    #[error(transparent)]
    Unstamped(#[from] ProbeError),
    /// Its messages do not pass through UCX.
    #[error(
        "stamp inside {0}: its messages here do not pass through UCX; set OMPI_MCA_pml=ucx \
         OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any (Open MPI) or MPIR_CVAR_NOLOCAL=1 \
         (MPICH), or use an MPI that is built with UCX"
    )]
    Elsewhere(String),
    /// MPI answered with an error code.
    #[error("{operation}: {text} (code {code})")]
    Refused {
        /// The function.
        operation: &'static str,
        /// MPI's text for the error.
        text: String,
        /// MPI's error code.
        code: i32,
    },
}

impl From<MpiError> for CommError {
    #[cold]
    #[inline(never)]
    fn from(error: MpiError) -> Self {
        match error {
            MpiError::Refused { .. } | MpiError::TooLong(_) => Self::Connect(Box::new(error)),
            MpiError::Unstamped(ProbeError::Refused(_)) => Self::SetUp(Box::new(error)),
            MpiError::Unstamped(_) | MpiError::Elsewhere(_) => Self::Missing(Box::new(error)),
            MpiError::Missing(_) => Self::Unavailable { reason: error.to_string() },
            other => Self::SetUp(Box::new(other)),
        }
    }
}

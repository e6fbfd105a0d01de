//! What can go wrong with an MPI.

use std::path::PathBuf;

use bandgap_comm::CommError;

/// A failure to find, open or use an MPI.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// No library could be opened.
    #[error(
        "find an MPI: name its library, or put its mpirun on PATH; looked for {}",
        listed(.looked)
    )]
    NotFound {
        /// Where was looked, and why it was not that.
        looked: Vec<(PathBuf, String)>,
    },
    /// A file cannot be opened as a library.
    #[error("open {}: {reason}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the loader says.
        reason: String,
    },
    /// A library is for another kind of processor than this program.
    #[error(
        "open {}: it is for machine {found:#06x} of ELF, and this program for {own:#06x}; name a \
         library for this machine",
        .path.display()
    )]
    Architecture {
        /// The file.
        path: PathBuf,
        /// The machine of the library, as in its ELF header, with the class in the higher byte.
        found: u32,
        /// That of this program.
        own: u32,
    },
    /// A library lacks a function of MPI.
    #[error("use {} as an MPI: it has no {symbol}", .path.display())]
    NoSymbol {
        /// The file.
        path: PathBuf,
        /// The name of the function or constant.
        symbol: &'static str,
    },
    /// An MPI whose binary interface is not known.
    #[error(
        "use {}, which says it is {version:?}: its binary interface is not that of MPICH, Open MPI \
         or MPI 5",
        .path.display()
    )]
    UnknownAbi {
        /// The file.
        path: PathBuf,
        /// What it says of itself.
        version: String,
    },
    /// The library does not belong to the launcher.
    #[error(
        "join the run: {launcher} started {expected} ranks, and {library} {}; {cure}",
        their_size(*.seen)
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
    /// MPI is not finalised while something of it is in use.
    #[error("finalise MPI: {holders} libraries or links still use it")]
    InUse {
        /// How many.
        holders: usize,
    },
    /// A message is longer than a call of MPI takes.
    #[error("pass {bytes} bytes at once: MPI counts up to {}", i32::MAX)]
    TooLong {
        /// Its length.
        bytes: usize,
    },
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

fn listed(looked: &[(PathBuf, String)]) -> String {
    let each = looked.iter().map(|(path, reason)| format!("{} ({reason})", path.display()));
    each.collect::<Vec<_>>().join(", ")
}

fn their_size(size: Option<usize>) -> String {
    match size {
        Some(size) => format!("sees {size}"),
        None => "does not know that launcher".to_owned(),
    }
}

impl From<MpiError> for CommError {
    #[cold]
    fn from(error: MpiError) -> Self {
        match error {
            MpiError::Refused { .. }
            | MpiError::TooLong { .. }
            | MpiError::WrongLauncher { .. } => Self::Connect(Box::new(error)),
            other => Self::SetUp(Box::new(other)),
        }
    }
}

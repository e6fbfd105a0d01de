//! Errors of finding, opening and using a fabric's library.

use std::path::PathBuf;

use bandgap_comm::{CommError, Rank};
use bandgap_loader::OpenError;

/// A failure to find, open or use a fabric's library.
#[derive(Debug, thiserror::Error)]
pub enum FabricError {
    /// The library is missing, or cannot be opened.
    #[error("{error}; install {package}, or name the library with {option}")]
    Open {
        /// What the loader said.
        error: OpenError,
        /// The package that has it.
        package: &'static str,
        /// The option that names it.
        option: &'static str,
    },
    /// The library lacks a function: it is another one, or too old.
    #[error("use {}: it has no {symbol}, as {oldest} and later have", .path.display())]
    NoSymbol {
        /// The file.
        path: PathBuf,
        /// The function.
        symbol: &'static str,
        /// The oldest version in use.
        oldest: &'static str,
    },
    /// The library is too old.
    #[error("use {}: it is {library}, and {oldest} is the oldest in use", .path.display())]
    TooOld {
        /// The file.
        path: PathBuf,
        /// The library.
        library: String,
        /// The oldest version in use.
        oldest: &'static str,
    },
    /// Two ranks found different providers.
    #[error("reach rank {peer} over {own}: it found {theirs:?}; name one, as in -t 'ofi:{own}'")]
    OtherProvider {
        /// The other rank.
        peer: Rank,
        /// This rank's.
        own: String,
        /// The other rank's.
        theirs: String,
    },
    /// The library does not have a transport of this name here.
    #[error("use {named:?}: here {library} has {}", .there.join(", "))]
    NoTransport {
        /// The name.
        named: String,
        /// The library.
        library: String,
        /// The transports that it has.
        there: Vec<String>,
    },
    /// The transport of this name is not used.
    #[error("use {named:?}: {why}")]
    NotUsed {
        /// The name.
        named: String,
        /// Why not.
        why: &'static str,
    },
    /// A call was refused.
    #[error("{operation}: {text} (code {code})")]
    Refused {
        /// The function, or what it was to do.
        operation: String,
        /// The library's text for the error.
        text: String,
        /// Its code.
        code: i32,
    },
}

impl From<FabricError> for CommError {
    #[cold]
    #[inline(never)]
    fn from(error: FabricError) -> Self {
        match error {
            FabricError::Open { .. }
            | FabricError::NoSymbol { .. }
            | FabricError::TooOld { .. }
            | FabricError::OtherProvider { .. } => Self::Missing(Box::new(error)),
            FabricError::NoTransport { .. } | FabricError::NotUsed { .. } => {
                Self::Usage(Box::new(error))
            }
            FabricError::Refused { .. } => Self::Connect(Box::new(error)),
        }
    }
}

//! What can go wrong with a run file.

use std::io;
use std::path::PathBuf;

/// Why a run could not be recorded or read. Texts are fragments that follow "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A value that JSON cannot hold, and which part of a quantity it is.
    #[error("record {0}: {1} is not a finite number")]
    NotFinite(&'static str, f64),
    /// An interval whose ends are exchanged.
    #[error("record a quantity: its interval runs from {0} down to {1}")]
    Inverted(f64, f64),
    /// The run could not be written as JSON.
    #[error("write the run as JSON")]
    Encode(#[source] serde_json::Error),
    /// The output directory holds something already.
    #[error("use {} for the run's files: it is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// The output directory is something else.
    #[error("use {} for the run's files: it is not a directory (name another place)", .0.display())]
    NotADirectory(PathBuf),
    /// The operating system refused what was tried on a file or directory.
    #[error("{action} {}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// A table could not be written.
    #[error("write a CSV table")]
    Csv(#[source] csv::Error),
    /// The bytes are no JSON, or its fields are not a run's.
    #[error("read a run: {0}")]
    Decode(serde_json::Error),
    /// JSON, but no run file: what it says that it is.
    #[error("read a run: the file's \"format\" is {0}, not \"bandgap-run\"")]
    WrongFormat(String),
    /// A version that this program does not read: an older or a newer one.
    #[error(
        "read a run: it has format version {found}; this bandgap reads version {own} (use the bandgap that wrote it, or measure again)"
    )]
    Version {
        /// That of the file.
        found: String,
        /// The one that is read.
        own: u32,
    },
    /// An error of reading, with the file it was in.
    #[error("{error} (in {file})", error = .1, file = .0.display())]
    InFile(PathBuf, Box<RecordError>),
}

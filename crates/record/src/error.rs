//! What can go wrong with a run file.

use std::io;
use std::path::PathBuf;

/// Why a run could not be recorded or read. Texts are fragments that follow "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A value that JSON cannot hold.
    #[error("record {what}: {value} is not a finite number")]
    NotFinite {
        /// Which part of the quantity it is.
        what: &'static str,
        /// The value.
        value: f64,
    },
    /// An interval whose ends are exchanged.
    #[error("record a quantity: its interval runs from {low} down to {high}")]
    Inverted {
        /// The end given as the lower one.
        low: f64,
        /// The end given as the upper one.
        high: f64,
    },
    /// The run could not be written as JSON.
    #[error("write the run as JSON")]
    Encode(#[source] serde_json::Error),
    /// The output directory holds something already.
    #[error("use {} for the run's files: it is not empty (name another directory, or remove it)", .path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The output directory is something else.
    #[error("use {} for the run's files: it is not a directory (name another place)", .path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused.
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
    #[error("read a run: {error}")]
    Decode {
        /// Where and why.
        error: serde_json::Error,
    },
    /// JSON, but no run file.
    #[error("read a run: the file's \"format\" is {found}, not \"bandgap-run\"")]
    WrongFormat {
        /// What it says instead.
        found: String,
    },
    /// A version this program does not know.
    #[error(
        "read a run: it has format version {found}; this bandgap reads version 1 (use the bandgap that wrote it)"
    )]
    Version {
        /// The file's version.
        found: String,
    },
    /// An error of reading, with the file it was in.
    #[error("{error} (in {})", .path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The error.
        error: Box<RecordError>,
    },
}

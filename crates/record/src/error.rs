//! Errors of run files.

use std::io;
use std::path::PathBuf;

/// Why a run could not be recorded or read. Texts are fragments that follow "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A part of a quantity that is not finite, so JSON cannot hold it.
    #[error("record {0}: {1} is not a finite number")]
    NotFinite(&'static str, f64),
    /// An interval with swapped ends.
    #[error("record a quantity: its interval runs from {0} down to {1}")]
    Inverted(f64, f64),
    /// The run could not be written as JSON.
    #[error("write the run as JSON")]
    Encode(#[source] serde_json::Error),
    /// The output directory is not empty.
    #[error("use {} for the run's files: it is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// Another run writes its files there.
    #[error("use {} for the run's files: another run is using it", .0.display())]
    Taken(PathBuf),
    /// A killed run left its journal there.
    #[error("use {} for the run's files: a killed run left its journal there (bandgap show {} keeps what it measured)", .0.display(), .0.display())]
    Unfinished(PathBuf),
    /// The output path is not a directory.
    #[error("use {} for the run's files: it is not a directory (name another place)", .0.display())]
    NotADirectory(PathBuf),
    /// The operating system refused an action on a file or directory.
    #[error("{action} {}", .path.display())]
    Io {
        /// The action.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A table could not be written.
    #[error("write a CSV table")]
    Csv(#[source] csv::Error),
    /// The bytes are not JSON, or the fields are not those of a run.
    #[error("read a run: {0}")]
    Decode(serde_json::Error),
    /// JSON, but not a run file. The text is the `format` found.
    #[error("read a run: the file's \"format\" is {0}, not \"bandgap-run\"")]
    WrongFormat(String),
    /// An older or newer version of the format.
    #[error(
        "read a run: it has format version {found}; this bandgap reads version {own} (use the bandgap that wrote it, or measure again)"
    )]
    Version {
        /// The version of the file.
        found: String,
        /// The version that this program reads.
        own: u32,
    },
    /// An error in a file.
    #[error("{error} (in {file})", error = .1, file = .0.display())]
    InFile(PathBuf, Box<RecordError>),
}

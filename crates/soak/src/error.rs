//! What keeps the driver itself from its work.

use std::path::PathBuf;

/// Why trials cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum SoakError {
    /// The system refused.
    #[error("{what}: {source}")]
    System {
        /// What was to be done.
        what: String,
        /// Why not.
        source: std::io::Error,
    },
    /// There is no such fault.
    #[error("find fault {name}: there are {known}")]
    NoFault {
        /// As asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The program under test is not there.
    #[error("find the program {}: build it, or name another one with --binary", .path.display())]
    NoBinary {
        /// Where it was to be.
        path: PathBuf,
    },
    /// The program has commands that no trial runs.
    #[error("run every command: there is no line in subject.rs for {commands}")]
    Untried {
        /// Their names.
        commands: String,
    },
    /// A filter of system calls cannot be made.
    #[error("make a filter of system calls: {0}")]
    Filter(#[from] seccompiler::BackendError),
    /// The system does not take a filter of system calls.
    #[error("forbid system calls: {0}")]
    Refused(seccompiler::Error),
    /// Limits could not be set on the program under test.
    #[error("set limits: {message}")]
    Limits {
        /// What the program that sets them said.
        message: String,
    },
    /// No command of `./soak udp` has this word.
    #[error("find a command with the word {word}")]
    NoCommand {
        /// As asked for.
        word: String,
    },
}

/// Says what was to be done.
pub(crate) trait Doing<T> {
    /// The value, or the error with what was to be done.
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, SoakError>;
}

impl<T, E: Into<std::io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, SoakError> {
        self.map_err(|error| SoakError::System { what: what(), source: error.into() })
    }
}

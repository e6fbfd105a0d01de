//! Errors of this crate.

/// Result of reading or using the machine.
pub(crate) type Result<T, E = HostError> = std::result::Result<T, E>;

/// Errors of reading or using the machine. A fact that is missing from a [`crate::Description`] is
/// `None`, not an error.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A list of cores that cannot be read.
    #[error("read the list of cores {text:?}: {token:?} {problem}")]
    CpuList {
        /// The whole list.
        text: String,
        /// The part that is wrong.
        token: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// This process cannot use the requested core.
    #[error("use core {cpu}: it is {problem}; the cores allowed here are {allowed}")]
    CpuUnusable {
        /// The core.
        cpu: usize,
        /// Reason.
        problem: &'static str,
        /// The cores that can be used, as a list.
        allowed: String,
    },
    /// There is no core for the ranks.
    #[error("place the ranks: {0}")]
    NoCpus(&'static str),
    /// This machine cannot use a clock calibration.
    #[error("use the clock's calibration: {0}")]
    Calibration(&'static str),
    /// The launcher ended before this process could tie itself to it.
    #[error("tie this process to its launcher: its parent is process {found}, not {expected}")]
    Orphaned {
        /// The process that started this one.
        expected: u32,
        /// The parent now; 0 when it is outside this process's name space.
        found: u32,
    },
    /// The operating system refused an operation.
    #[error("{operation}: {source}")]
    System {
        /// What was attempted.
        operation: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
}

impl HostError {
    /// Wraps an error of the operating system.
    pub(crate) fn system<E: Into<std::io::Error>>(
        operation: &'static str,
    ) -> impl Fn(E) -> Self + Copy {
        move |source| Self::System { operation, source: source.into() }
    }
}

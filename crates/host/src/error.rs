//! What can go wrong with the machine.

/// Failures of reading or using the machine. Missing facts of a [`crate::Description`] are not
/// among them: they are `None`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// A core was asked for that this process cannot use.
    #[error("use core {cpu}: it is {problem}; the cores allowed here are {allowed}")]
    CpuUnusable {
        /// The core.
        cpu: usize,
        /// Why not.
        problem: &'static str,
        /// The cores that can be used, as a list.
        allowed: String,
    },
    /// There is nothing to place ranks on.
    #[error("place the ranks: {problem}")]
    NoCpus {
        /// Which list was empty.
        problem: &'static str,
    },
    /// A clock calibration that this machine cannot use.
    #[error("use the clock's calibration: {problem}")]
    Calibration {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The parent process ended before its child could tie itself to it.
    #[error("stay with the launcher: the parent is process {found}, not {expected}")]
    Orphaned {
        /// The parent that started this process.
        expected: u32,
        /// The parent now; 0 when there is none in this name space.
        found: u32,
    },
    /// The operating system refused an operation.
    #[error("{operation}: {source}")]
    System {
        /// What was tried.
        operation: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
}

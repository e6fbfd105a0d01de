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
    /// The library is another one, or too old.
    #[error("use {}: it has no {lacks}, as {oldest} and later have", .path.display())]
    TooOld {
        /// The file.
        path: PathBuf,
        /// A function, or the version of its interface.
        lacks: &'static str,
        /// The oldest version in use.
        oldest: &'static str,
    },
    /// Two ranks have different libraries, or providers.
    #[error(
        "reach rank {peer} over {own}: it has {theirs}; use the same (--ucx-lib, --ofi-lib, -t)"
    )]
    Other {
        /// The other rank.
        peer: Rank,
        /// This rank's.
        own: String,
        /// The other rank's.
        theirs: String,
    },
    /// The library does not have a transport of this name here.
    #[error("use {named:?}: {library} has [{}] here", .there.join(", "))]
    NoTransport {
        /// The name.
        named: String,
        /// The library.
        library: String,
        /// The transports that it has.
        there: Vec<String>,
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
    /// There was no memory for a call. Network interfaces want memory that is locked.
    #[error("{refused}; perhaps more is to be locked than `ulimit -l` allows: {locked}")]
    NoMemory {
        /// The refusal.
        refused: Box<Self>,
        /// What this process may lock, and what it has locked, in the system's words.
        locked: String,
    },
}

impl FabricError {
    /// The refusal of a call with this code; `no_memory` is the library's code of a lack of memory.
    #[cold]
    pub(crate) fn refused(operation: String, text: String, code: i32, no_memory: i32) -> Self {
        let refused = Self::Refused { operation, text, code };
        if code != no_memory {
            return refused;
        }
        let read = |file| std::fs::read_to_string(file).unwrap_or_default();
        let known = read("/proc/self/limits") + &read("/proc/self/status");
        let is_it =
            |line: &&str| ["Max locked", "VmLck", "VmPin"].iter().any(|of| line.starts_with(of));
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let locked: Vec<String> = known.lines().filter(is_it).map(words).collect();
        Self::NoMemory { refused: Box::new(refused), locked: locked.join(", ") }
    }
}

impl From<FabricError> for CommError {
    #[cold]
    #[inline(never)]
    fn from(error: FabricError) -> Self {
        match error {
            FabricError::Open { .. } | FabricError::TooOld { .. } | FabricError::Other { .. } => {
                Self::Missing(Box::new(error))
            }
            FabricError::NoTransport { .. } => Self::Usage(Box::new(error)),
            FabricError::Refused { .. } => Self::Connect(Box::new(error)),
            FabricError::NoMemory { .. } => Self::SetUp(Box::new(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_is_the_hosts_and_tells_the_limit() {
        let refused =
            |code| FabricError::refused("register".to_owned(), "No".to_owned(), code, -12);
        let CommError::SetUp(error) = refused(-12).into() else { panic!("not the host's") };
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let limit = limits.lines().find_map(|line| line.strip_prefix("Max locked memory")).unwrap();
        let limit = limit.split_whitespace().next().unwrap();
        assert!(error.to_string().contains(&format!("memory {limit} ")), "{error}");
        assert!(error.to_string().contains("VmPin"), "{error}");
        assert!(matches!(refused(-11).into(), CommError::Connect(_)));
    }
}

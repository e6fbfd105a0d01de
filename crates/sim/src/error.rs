//! Errors of recording, of machine files, and of simulation.

use std::fmt::Display;
use std::path::PathBuf;

use bandgap_comm::{CommError, Rank};

/// Result of a simulation step.
pub(crate) type Result<T = (), E = SimError> = std::result::Result<T, E>;

/// Errors of recording, of reading a machine, and of replaying.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A program ended with an error while it was recorded: the rank, and the error.
    #[error("record the program of rank {0}: failed to {1}")]
    Program(Rank, #[source] CommError),
    /// The machine has too few ranks, or no ranks were asked for: the number, the machine's name,
    /// and its number of ranks.
    #[error("simulate {0} ranks: machine {1} has from 1 to {2}")]
    Ranks(usize, String, usize),
    /// A machine's file cannot be read, and no built-in machine has this name.
    #[error("read machine file {file}: {1}", file = .0.display())]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// A machine's file is not TOML, or has an unknown key or an invalid value.
    #[error("read machine {origin}, line {line}: {what}")]
    Machine {
        /// The file, or the built-in's name.
        origin: String,
        /// Line in the file, from 1.
        line: usize,
        /// Key of an invalid value, otherwise empty.
        key: String,
        /// What is wrong.
        what: String,
    },
    /// Ranks wait for something that will never happen.
    #[error("finish the program: ranks wait for ever: {}", listed(.0))]
    Deadlock(Vec<Wait>),
    /// A message and the receive that takes it differ in length.
    #[error(
        "receive {expected} bytes at rank {rank}: the message with tag {tag} from rank {from} has \
         {bytes} bytes"
    )]
    OtherLength {
        /// The receiver.
        rank: Rank,
        /// The sender.
        from: Rank,
        /// Tag of the message.
        tag: u32,
        /// Length of the receive, in bytes.
        expected: u32,
        /// Length of the message, in bytes.
        bytes: u32,
    },
    /// Bytes would be moved on a machine whose file does not say what they cost.
    #[error(
        "move bytes on machine {0}: its file does not say what a byte costs; use \
         ipsc860, or add gap_per_byte_ns or protocols to its file"
    )]
    NoTimeForBytes(String),
    /// A replay that is observed has more moments than can be kept.
    #[error("observe the program: it has more than 268 million steps; use fewer ranks")]
    TooMuch,
    /// Virtual time exceeded half of what 64 bits of picoseconds hold (about 107 days).
    #[error("finish the program: rank {0} takes more than 107 days of virtual time, the limit")]
    TooLong(Rank),
    /// A rank ends later than is of interest: the rank, and that time in picoseconds.
    #[error("finish the program: rank {0} ends later than after {1} ps")]
    Late(Rank, u64),
}

/// A rank that cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank} waits {what}")]
pub struct Wait {
    /// The rank.
    pub rank: Rank,
    /// What it waits for.
    pub what: WaitFor,
}

/// What a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitFor {
    /// Completion of this many of its requests.
    #[error("for {0} of its requests to complete")]
    Completions(u64),
    /// This many more requests from its peers.
    #[error("for {0} more requests from its peers")]
    Requests(u64),
    /// Room for a request to this peer.
    #[error("for room for a request to rank {0}")]
    Room(Rank),
    /// A message from this sender with this tag.
    #[error("for a message with tag {1} from rank {0}")]
    Message(Rank, u32),
    /// This rank, to reach a barrier.
    #[error("in a barrier for rank {0}")]
    Barrier(Rank),
}

/// Number of entries that a message names.
const NAMED: usize = 8;

/// Lists the first entries, and says how many more there are.
pub(crate) fn listed<T: Display>(all: &[T]) -> String {
    let mut text: Vec<String> = all.iter().take(NAMED).map(T::to_string).collect();
    if all.len() > NAMED {
        text.push(format!("and {} more", all.len() - NAMED));
    }
    text.join("; ")
}

//! What can go wrong before and during a simulation.

use std::fmt::Display;
use std::path::PathBuf;

use bandgap_comm::{CommError, Rank};

/// What is there, or why it is not.
pub(crate) type Result<T = (), E = SimError> = std::result::Result<T, E>;

/// Failures of recording, of reading a machine, and of replaying.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A program ended with an error while it was recorded: the rank, and what it returned.
    #[error("record the program of rank {0}: failed to {1}")]
    Program(Rank, #[source] CommError),
    /// The machine does not have so many ranks, or none were asked for: their number, its name, and
    /// how many it has.
    #[error("simulate {0} ranks: machine {1} has from 1 to {2}")]
    Ranks(usize, String, usize),
    /// A machine's file cannot be read, and is no built-in machine.
    #[error("read machine file {file}: {1}", file = .0.display())]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// A machine's file is not TOML, has an unknown key, or a value that is of a wrong type or outside
    /// its bounds.
    #[error("read machine {origin}, line {line}: {what}")]
    Machine {
        /// The file, or the built-in's name.
        origin: String,
        /// Line in it, from 1.
        line: usize,
        /// The key of a value outside its bounds, else empty.
        key: String,
        /// What is wrong there.
        what: String,
    },
    /// Some ranks wait for something that will never happen.
    #[error("finish the program: its ranks wait for ever: {}", listed(.0))]
    Deadlock(Vec<Wait>),
    /// A message has another length than the receive that takes it.
    #[error(
        "receive {expected} bytes at rank {rank}: the message of tag {tag} from rank {from} has \
         {bytes}"
    )]
    OtherLength {
        /// The rank that receives.
        rank: Rank,
        /// The rank that sent.
        from: Rank,
        /// The message's tag.
        tag: u32,
        /// Bytes that the receiver asked for.
        expected: u32,
        /// Bytes of the message.
        bytes: u32,
    },
    /// Bytes are to be moved on a machine whose file does not say what they cost.
    #[error(
        "move bytes on machine {0}: it does not say what a byte costs; take \
         ipsc860, or add gap_per_byte_ns or protocols to its file"
    )]
    NoTimeForBytes(String),
    /// A replay that is looked at has more than can be kept of it.
    #[error("look at the program: its ranks do more than 268 million things; take fewer ranks")]
    TooMuch,
    /// Virtual time passed half of what 64 bits of picoseconds hold (about 107 days).
    #[error("finish the program: rank {0} takes more than 107 days, the longest virtual time")]
    TooLong(Rank),
}

/// A rank that cannot go on.
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
    /// The completion of so many of its requests.
    #[error("for {0} of its requests to complete")]
    Completions(u64),
    /// So many further requests of its peers.
    #[error("for {0} more of its peers' requests")]
    Requests(u64),
    /// Room for a request toward this peer.
    #[error("for room toward rank {0}")]
    Room(Rank),
    /// A message: its sender and its tag.
    #[error("for a message of tag {1} from rank {0}")]
    Message(Rank, u32),
    /// This rank, to come to a barrier.
    #[error("in a barrier for rank {0}")]
    Barrier(Rank),
}

/// How many are named.
const NAMED: usize = 8;

/// The first of them in words.
pub(crate) fn listed<T: Display>(all: &[T]) -> String {
    let mut text: Vec<String> = all.iter().take(NAMED).map(T::to_string).collect();
    if all.len() > NAMED {
        text.push(format!("and {} more", all.len() - NAMED));
    }
    text.join("; ")
}

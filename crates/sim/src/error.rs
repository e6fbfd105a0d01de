//! What can go wrong before and during a simulation.

use std::fmt;
use std::path::PathBuf;

use bandgap_comm::{CommError, Rank};

/// Failures of recording, of reading a machine, and of replaying.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A program ended with an error while it was recorded.
    #[error("record the program of rank {rank}: failed to {source}")]
    Program {
        /// The rank.
        rank: Rank,
        /// What the program returned.
        source: CommError,
    },
    /// The machine does not have so many ranks, or none were asked for.
    #[error("simulate {ranks} ranks: machine {machine} has from 1 to {most}")]
    Ranks {
        /// The number asked for.
        ranks: usize,
        /// The machine's name.
        machine: String,
        /// Its number of processors.
        most: usize,
    },
    /// A name is neither a built-in machine nor a file.
    #[error("find machine {name}: there is no such file, and the built-in machines are {known}")]
    NoSuchMachine {
        /// The name.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A machine's file cannot be read.
    #[error("read machine file {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A machine's file is not TOML, or has an unknown key or a value of a wrong type.
    #[error("read machine {origin}, line {line}: {what}")]
    Syntax {
        /// The file, or the built-in's name.
        origin: String,
        /// Line in it, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// A machine's value is outside its bounds.
    #[error("read machine {origin}: {key} is {value}; it must be {bounds}")]
    Value {
        /// The file, or the built-in's name.
        origin: String,
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        bounds: String,
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
        "move bytes on machine {machine}: its file does not say what a byte costs; give it \
         gap_per_byte_ns or protocols"
    )]
    NoTimeForBytes {
        /// The machine's name.
        machine: String,
    },
    /// A replay that is looked at has more than can be kept of it.
    #[error("look at the program: its ranks do more than 268 million things; take fewer ranks")]
    TooMuch,
    /// Virtual time passed half of what 64 bits of picoseconds hold (about 107 days).
    #[error("finish the program: rank {rank} takes more than 107 days, the longest virtual time")]
    TooLong {
        /// The rank.
        rank: Rank,
    },
}

/// A rank that cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The rank.
    pub rank: Rank,
    /// What it waits for.
    pub what: WaitFor,
}

/// What a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// The completion of so many of its requests.
    Completions(u64),
    /// So many further requests of its peers.
    Requests(u64),
    /// Room for a request toward this peer.
    Room(Rank),
    /// A message.
    Message {
        /// Its sender.
        from: Rank,
        /// Its tag.
        tag: u32,
    },
    /// This rank, to come to a barrier.
    Barrier(Rank),
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, what } = self;
        write!(f, "rank {rank} waits ")?;
        match what {
            WaitFor::Completions(1) => write!(f, "for the completion of a request"),
            WaitFor::Completions(n) => write!(f, "for the completion of {n} requests"),
            WaitFor::Requests(1) => write!(f, "for 1 more request"),
            WaitFor::Requests(n) => write!(f, "for {n} more requests"),
            WaitFor::Room(peer) => write!(f, "for room toward rank {peer}"),
            WaitFor::Message { from, tag } => {
                write!(f, "for a message of tag {tag} from rank {from}")
            }
            WaitFor::Barrier(from) => write!(f, "in a barrier for rank {from}"),
        }
    }
}

/// Most ranks that a message names; it counts the others.
const NAMED: usize = 8;

fn listed(waits: &[Wait]) -> String {
    let mut text: Vec<String> = waits.iter().take(NAMED).map(Wait::to_string).collect();
    if waits.len() > NAMED {
        text.push(format!("{} more ranks wait", waits.len() - NAMED));
    }
    text.join(", ")
}

//! Errors of schedules and of their replay.

use std::fmt;
use std::io;

use crate::error::listed;

/// Result of reading or replaying a schedule.
pub(super) type Result<T = (), E = GoalError> = std::result::Result<T, E>;

/// Errors of reading and replaying a schedule.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoalError {
    /// The schedule cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Something is wrong at a line and a column, both from 1.
    #[error("line {0}, column {1}: {2}")]
    Syntax(u64, usize, Wrong),
    /// Something is wrong with a rank of a binary schedule.
    #[error("rank {0} of a binary schedule: {1}")]
    Binary(u32, Wrong),
    /// Operations of a rank wait for one another.
    #[error("operations wait for one another: {}", listed(.0))]
    Cycle(Vec<OperationId>),
    /// There are sends without a receive, or receives without a send.
    #[error("sends and receives do not match: {}", listed(.0))]
    Unmatched(Vec<Left>),
    /// Ranks wait for one another.
    #[error("ranks wait for ever: {}", listed(.0))]
    Deadlock(Vec<Left>),
    /// Virtual time exceeded half of what 63 bits of picoseconds hold (about 53 days).
    #[error("rank {0} takes more than 53 days of virtual time, the limit")]
    TooLong(u32),
}

impl GoalError {
    /// Whether the schedule is readable but cannot end.
    pub fn is_endless(&self) -> bool {
        matches!(self, Self::Cycle(_) | Self::Unmatched(_) | Self::Deadlock(_))
    }
}

/// What is wrong at a position in a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// Something else is expected.
    #[error("expected {0}, found \"{1}\"")]
    Expected(&'static str, String),
    /// No operation of the rank has this label.
    #[error("no operation of this rank has the label {0}")]
    UnknownLabel(String),
    /// Two operations of the rank have this label.
    #[error("duplicate label {0}")]
    LabelTwice(String),
    /// A rank appears twice.
    #[error("duplicate rank {0}")]
    RankTwice(u32),
    /// A rank is not below the number of ranks.
    #[error("rank {0} does not exist: there are {1} ranks")]
    RankBeyond(u64, u32),
    /// A number is too large; it may be a number of operations.
    #[error("the number is too large (limit {0})")]
    TooLarge(u64),
    /// The file ends too early.
    #[error("the file ends too early")]
    Ends,
}

/// Position of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationId {
    /// Its rank.
    pub rank: u32,
    /// Number among the rank's operations, from 1.
    pub number: u32,
    /// Line; `None` in a binary schedule.
    pub line: Option<u32>,
}

/// An operation that remains when nothing can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Position of the operation.
    pub place: OperationId,
    /// Whether it sends.
    pub sends: bool,
    /// The other rank; `None` for any.
    pub peer: Option<u32>,
    /// Tag; `None` for any.
    pub tag: Option<u64>,
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}, operation {}", self.rank, self.number)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.sends { "sends to" } else { "receives from" };
        let peer = self.peer.map_or("any".to_owned(), |peer| peer.to_string());
        let tag = self.tag.map_or("any".to_owned(), |tag| tag.to_string());
        write!(f, "{} {way} rank {peer}, tag {tag}", self.place)
    }
}

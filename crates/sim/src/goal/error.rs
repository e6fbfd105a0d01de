//! What can be wrong with a schedule and with a replay.

use std::fmt;
use std::io;

use crate::error::listed;

/// What is there, or why it is not.
pub(super) type Result<T = (), E = GoalError> = std::result::Result<T, E>;

/// Failures of reading a schedule and of replaying it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoalError {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// What is wrong at a line and a column, both from 1.
    #[error("line {0}, column {1}: {2}")]
    Syntax(u64, usize, Wrong),
    /// What is wrong with a rank of a binary schedule.
    #[error("rank {0} of a binary schedule: {1}")]
    Binary(u32, Wrong),
    /// Operations of a rank wait for one another.
    #[error("its operations wait for one another: {}", listed(.0))]
    Cycle(Vec<Place>),
    /// Messages that nobody receives, or receives that nobody sends to.
    #[error("its messages do not match: {}", listed(.0))]
    Unmatched(Vec<Left>),
    /// Ranks wait for one another.
    #[error("its ranks wait for ever: {}", listed(.0))]
    Deadlock(Vec<Left>),
    /// Virtual time passed half of what 64 bits of picoseconds hold (about 53 days).
    #[error("rank {0} takes more than 53 days, the longest virtual time")]
    TooLong(u32),
}

impl GoalError {
    /// Whether the schedule is readable, and cannot end.
    pub fn is_endless(&self) -> bool {
        matches!(self, Self::Cycle(_) | Self::Unmatched(_) | Self::Deadlock(_))
    }
}

/// What is wrong with a place of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// Something else must be there.
    #[error("{0} must be here, not \"{1}\"")]
    Expected(&'static str, String),
    /// A label that no operation of the rank has.
    #[error("no operation of this rank has the label {0}")]
    UnknownLabel(String),
    /// A label that another operation of the rank has.
    #[error("the label {0} is there twice")]
    LabelTwice(String),
    /// A rank that was there before.
    #[error("rank {0} is there twice")]
    RankTwice(u32),
    /// A rank that is not below the number of ranks.
    #[error("rank {0} is beyond the {1} ranks")]
    RankBeyond(u64, u32),
    /// A number, of operations perhaps, that is too large.
    #[error("the number is too large: at most {0}")]
    TooLarge(u64),
    /// The end of the file comes too early.
    #[error("the file ends too early")]
    Ends,
}

/// Where an operation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its rank.
    pub rank: u32,
    /// Its number among the rank's operations, from 1.
    pub number: u32,
    /// Its line; none in a binary schedule.
    pub line: Option<u32>,
}

/// An operation that is left when nothing goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Where it stands.
    pub place: Place,
    /// Whether it sends.
    pub sends: bool,
    /// To or from whom; none for anybody.
    pub peer: Option<u32>,
    /// Its tag; none for any.
    pub tag: Option<u64>,
}

impl fmt::Display for Place {
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

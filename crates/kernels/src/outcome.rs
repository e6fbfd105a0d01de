//! What comes of an order on one rank.

use bandgap_comm::passing::Way;
use bandgap_comm::{CommError, Rank, Timed};
use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::Refused;

/// What one rank has after a batch. Ranks send it to the leader as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The time stamps that it took, in ticks of its clock.
    pub stamps: Vec<u64>,
    /// What it received and compared.
    pub checked: Checked,
    /// The first thing that was wrong in what it received.
    pub wrong: Option<Wrong>,
    /// The way that long messages went to this rank.
    pub way: Way,
    /// Why they did not go as ordered, where the machine refuses what the transport has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What was timed at the border with the system, if the order asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<Timed>,
}

/// Messages that a rank received in a batch. A request, a reply, a message of message passing and a
/// block of a store or get count as one each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Messages received.
    pub received: u64,
    /// Those whose content was compared.
    pub compared: u64,
    /// Those of which only the sum of all words was compared.
    pub summed: u64,
}

impl Checked {
    /// Both together. The numbers come from peers, and saturate.
    pub fn and(self, other: Self) -> Self {
        Self {
            received: self.received.saturating_add(other.received),
            compared: self.compared.saturating_add(other.compared),
            summed: self.summed.saturating_add(other.summed),
        }
    }
}

/// A rank received something else than it must.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("verify what rank {rank} received: {flaw}")]
pub struct Wrong {
    /// The rank that received.
    pub rank: Rank,
    /// What was wrong.
    pub flaw: Flaw,
}

/// What was wrong in what a rank received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// A byte of a message.
    #[error(
        "byte {first} of message {message}{}, of {bytes} bytes: expected {expected:#04x}, got \
         {got:#04x}",
        from.map_or(", a sum over ranks".into(), |from| format!(" from rank {from}"))
    )]
    Byte {
        /// Who should have sent it; `None` of a sum over ranks.
        from: Option<Rank>,
        /// Number of the message in its sample.
        message: u64,
        /// Length of the message.
        bytes: usize,
        /// The first byte that differs.
        first: usize,
        /// What it should be.
        expected: u8,
        /// What it is.
        got: u8,
    },
    /// An element of a matrix.
    #[error(
        "element ({row}, {column}) of the matrix, from the block of rank {from}, in message \
         {message}: expected {expected:#018x}, got {got:#018x}"
    )]
    Element {
        /// Whose block it is of.
        from: Rank,
        /// Number of the message in its sample.
        message: u64,
        /// Its row in the matrix.
        row: usize,
        /// Its column.
        column: usize,
        /// What it should be, as a number of 64 bits.
        expected: u64,
        /// What it is.
        got: u64,
    },
    /// The word of a request or reply.
    #[error(
        "the word of {} {message} from rank {from}: expected {expected:#018x}, got {got:#018x}",
        kind(*reply)
    )]
    Word {
        /// Who sent it.
        from: Rank,
        /// Whether it came in a reply.
        reply: bool,
        /// How many of this source came before it.
        message: u64,
        /// What it should be.
        expected: u64,
        /// What it is.
        got: u64,
    },
    /// The sum of all words.
    #[error(
        "the sum of the words of each {}: expected {expected:#018x}, got {got:#018x}",
        kind(*reply)
    )]
    Sum {
        /// Whether they came in replies.
        reply: bool,
        /// What it should be.
        expected: u64,
        /// What it is.
        got: u64,
    },
    /// The number of messages.
    #[error(
        "{of}{}: expected {expected}, got {got}",
        from.map_or(String::new(), |from| format!(" from rank {from}"))
    )]
    Count {
        /// Messages of which kind.
        of: Counted,
        /// Who sent them, if those of one source were counted.
        from: Option<Rank>,
        /// How many there should be.
        expected: u64,
        /// How many there are.
        got: u64,
    },
}

impl Flaw {
    /// The first difference between bytes of a message, those from `at` on.
    pub(crate) fn of_bytes(
        from: Option<Rank>,
        message: u64,
        bytes: usize,
        at: usize,
        expected: &[u8],
        got: &[u8],
    ) -> Option<Self> {
        if expected == got {
            return None;
        }
        let first = expected.iter().zip(got).position(|(expected, got)| expected != got)?;
        let (expected, got) = (expected[first], got[first]);
        Some(Self::Byte { from, message, bytes, first: at + first, expected, got })
    }
}

/// Kinds of messages that are counted.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[display(rename_all = "lowercase")]
pub enum Counted {
    /// Requests of Active Messages.
    Requests,
    /// Replies of Active Messages.
    Replies,
    /// Messages of message passing.
    Messages,
    /// Messages that arrived and that no receive took.
    #[display("messages that no receive took")]
    Unclaimed,
}

fn kind(reply: bool) -> &'static str {
    if reply { "reply" } else { "request" }
}

/// Why an order failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// It cannot be carried out.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Something wrong had arrived before communication failed.
    #[error(transparent)]
    Wrong(#[from] Wrong),
    /// Communication failed.
    #[error(transparent)]
    Comm(#[from] CommError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_batches_together_have_received_compared_and_summed_what_each_has() {
        let one = Checked { received: 10, compared: 7, summed: 3 };
        let other = Checked { received: 5, compared: 0, summed: 4 };
        let both = Checked { received: 15, compared: 7, summed: 7 };
        assert_eq!((one.and(other), other.and(one)), (both, both));
        let most = Checked { received: u64::MAX, ..one };
        assert_eq!(most.and(one).received, u64::MAX);
    }
}

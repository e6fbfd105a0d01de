//! The result of an order on one rank.

use bandgap_comm::passing::Way;
use bandgap_comm::{CommError, Rank, Timed};
use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::Refused;

/// The result of a batch on one rank. Ranks send it to the leader as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Time stamps, in ticks of the rank's clock.
    pub stamps: Vec<u64>,
    /// Numbers of messages received and compared.
    pub checked: Checked,
    /// The first error found in what it received.
    pub wrong: Option<Wrong>,
    /// The way in which long messages travelled to this rank.
    pub way: Way,
    /// Why they did not travel as ordered, if the transport supports it but the machine refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Why this machine does not allow it; there are then no stamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Times measured at the border with the system, if the order asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<Timed>,
}

/// Messages that a rank received in a batch. A request, a reply, a message of message passing, and
/// a block of a store or get each count as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Messages received.
    pub received: u64,
    /// Messages whose content was compared.
    pub compared: u64,
    /// Messages of which only the sum of all words was compared.
    pub summed: u64,
}

impl Checked {
    /// Adds two counts. The numbers come from peers, so the sum saturates.
    pub fn and(self, other: Self) -> Self {
        Self {
            received: self.received.saturating_add(other.received),
            compared: self.compared.saturating_add(other.compared),
            summed: self.summed.saturating_add(other.summed),
        }
    }
}

/// A rank received something other than expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("verify what rank {rank} received: {flaw}")]
pub struct Wrong {
    /// The rank that received it.
    pub rank: Rank,
    /// The error.
    pub flaw: Flaw,
}

/// An error in what a rank received.
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
        /// The expected sender; `None` if the content is a sum over ranks.
        from: Option<Rank>,
        /// Number of the message in its sample.
        message: u64,
        /// Length of the message.
        bytes: usize,
        /// Index of the first byte that differs.
        first: usize,
        /// Expected value.
        expected: u8,
        /// Actual value.
        got: u8,
    },
    /// An element of a matrix.
    #[error(
        "element ({row}, {column}) of the matrix, from the block of rank {from}, in message \
         {message}: expected {expected:#018x}, got {got:#018x}"
    )]
    Element {
        /// The rank whose block holds the element.
        from: Rank,
        /// Number of the message in its sample.
        message: u64,
        /// Row in the matrix.
        row: usize,
        /// Column in the matrix.
        column: usize,
        /// Expected bits of the element.
        expected: u64,
        /// Actual bits.
        got: u64,
    },
    /// The word of a request or reply.
    #[error(
        "the word of {} {message} from rank {from}: expected {expected:#018x}, got {got:#018x}",
        kind(*reply)
    )]
    Word {
        /// The sender.
        from: Rank,
        /// Whether it came in a reply.
        reply: bool,
        /// Number of earlier words from this sender.
        message: u64,
        /// Expected word.
        expected: u64,
        /// Actual word.
        got: u64,
    },
    /// The sum of all words.
    #[error(
        "the sum of the words of each {}: expected {expected:#018x}, got {got:#018x}",
        kind(*reply)
    )]
    Sum {
        /// Whether the words came in replies.
        reply: bool,
        /// Expected sum, modulo 2⁶⁴.
        expected: u64,
        /// Actual sum.
        got: u64,
    },
    /// The number of messages.
    #[error(
        "{of}{}: expected {expected}, got {got}",
        from.map_or(String::new(), |from| format!(" from rank {from}"))
    )]
    Count {
        /// Kind of message.
        of: Counted,
        /// The sender, if only its messages were counted.
        from: Option<Rank>,
        /// Expected number.
        expected: u64,
        /// Actual number.
        got: u64,
    },
}

impl Flaw {
    /// The first difference between `expected` and `got`, which are bytes of a message from byte
    /// `at` on.
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

/// Kinds of message that are counted.
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
    /// Messages that arrived and were not received.
    #[display("messages without a receive")]
    Unclaimed,
}

fn kind(reply: bool) -> &'static str {
    if reply { "reply" } else { "request" }
}

/// Why an order failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The order cannot be carried out.
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

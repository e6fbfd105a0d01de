//! Which way the bytes of long messages go.

use serde::{Deserialize, Serialize};

use crate::{Bulk, Word};

/// How the bytes of announced messages come to their receivers.
///
/// A rank offers and takes what its own way allows: where two ranks have different ways, the bytes
/// go in pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// In pieces through slots: the sender copies in, and the receiver copies out, at the same time.
    #[default]
    Pieces,
    /// With a single copy: the receiver reads the sender's memory.
    Single {
        /// Messages of at least so many bytes go this way, and are announced. Shorter ones go as
        /// they do otherwise. At least one more than [`super::INLINE`].
        least: usize,
    },
}

impl Way {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pieces => "pieces",
            Self::Single { .. } => "single copy",
        }
    }

    /// The least length of messages that go another way than in pieces, if their bytes can.
    pub(super) fn least(self) -> usize {
        match self {
            Self::Pieces => usize::MAX,
            Self::Single { least } => least,
        }
    }

    /// Where a message of these bytes is for its receiver to read, as a sender that goes this way tells it; 0 where it goes
    /// in pieces.
    pub(super) fn offer<E: Bulk>(self, endpoint: &E, bytes: &[u8]) -> Word {
        if bytes.len() < self.least() { 0 } else { endpoint.address(bytes) }
    }

    /// Whether a receiver that goes this way reads a message of so many bytes at this address.
    pub(super) fn takes(self, at: Word, bytes: usize) -> bool {
        at != 0 && bytes > 0 && bytes >= self.least()
    }
}

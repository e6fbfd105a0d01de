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
    /// With one copy in user space: the receiver copies out of the sender's registered memory
    /// ([`super::Memory::Registered`]). A message that does not lie there goes in pieces.
    Registered {
        /// As that of [`Way::Single`].
        least: usize,
    },
}

impl Way {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pieces => "pieces",
            Self::Single { .. } => "single copy",
            Self::Registered { .. } => "registered",
        }
    }

    /// The least length of messages that go another way than in pieces, if their bytes can.
    pub(super) fn least(self) -> usize {
        match self {
            Self::Pieces => usize::MAX,
            Self::Single { least } | Self::Registered { least } => least,
        }
    }

    /// What a sender that goes this way tells of a message of these bytes.
    pub(super) fn offer<E: Bulk>(self, endpoint: &E, bytes: &[u8]) -> Offer {
        let found = match self {
            _ if bytes.len() < self.least() => None,
            Self::Pieces => None,
            Self::Single { .. } => match endpoint.address(bytes) {
                0 => None,
                address => Some(Offer::Address(address)),
            },
            Self::Registered { .. } => endpoint.registered_at(bytes).map(Offer::Registered),
        };
        found.unwrap_or(Offer::Pieces)
    }

    /// Whether a receiver that goes this way reads a message of so many bytes that is offered so.
    pub(super) fn takes(self, offer: Offer, bytes: usize) -> bool {
        let reads = matches!(
            (self, offer),
            (Self::Single { .. }, Offer::Address(_))
                | (Self::Registered { .. }, Offer::Registered(_))
        );
        reads && bytes > 0 && bytes >= self.least()
    }
}

/// Where an announced message is, for its receiver to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// It goes in pieces.
    Pieces,
    /// At this address of its sender's process.
    Address(Word),
    /// At this offset in its sender's registered memory.
    Registered(Word),
}

impl Offer {
    /// As two words of an announcement: its kind, and where.
    pub(super) fn words(self) -> (Word, Word) {
        match self {
            Self::Pieces => (0, 0),
            Self::Address(address) => (1, address),
            Self::Registered(at) => (2, at),
        }
    }

    /// The offer in these words; `None` where there is no such kind.
    pub(super) fn of(kind: Word, at: Word) -> Option<Self> {
        match kind {
            0 => Some(Self::Pieces),
            1 => Some(Self::Address(at)),
            2 => Some(Self::Registered(at)),
            _ => None,
        }
    }
}

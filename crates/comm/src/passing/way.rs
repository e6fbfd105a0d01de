//! Which way the bytes of long messages go.

use serde::{Deserialize, Serialize};

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
}

//! How the bytes of long messages travel.

use serde::{Deserialize, Serialize};

/// How the bytes of long messages reach their receivers.
///
/// A rank offers and takes what its own way allows. If two ranks have different ways, the bytes go
/// in pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// In pieces, through slots: the sender copies in, and the receiver copies out, at the same
    /// time.
    #[default]
    Pieces,
    /// With a single copy: the receiver reads the sender's memory.
    Single {
        /// Messages of at least this many bytes are announced and go this way; shorter ones go in
        /// pieces or in words. At least [`super::INLINE`] + 1.
        least: usize,
    },
}

impl Way {
    /// Name of the way.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pieces => "pieces",
            Self::Single { .. } => "single copy",
        }
    }

    /// Length from which messages are announced, so that their bytes may go another way than in
    /// pieces.
    pub(super) fn least(self) -> usize {
        match self {
            Self::Pieces => usize::MAX,
            Self::Single { least } => least,
        }
    }
}

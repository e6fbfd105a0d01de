//! Which way the bytes of long messages go.

use serde::{Deserialize, Serialize};

use super::{HoldsMail, Passing};
use crate::{Bulk, CommError, Watch};

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
}

impl<E: Bulk, W: Watch, S: HoldsMail> Passing<E, W, S> {
    /// Whether messages can go with a single copy ([`Way::Single`]) to this rank.
    ///
    /// # Errors
    /// They cannot, for this reason.
    pub fn single_copy(&self) -> Result<(), &str> {
        self.am.endpoint().single_copy()
    }

    /// Sets the way of the messages that are sent and received from here on.
    ///
    /// # Errors
    /// [`CommError::SingleCopy`]: this rank cannot go that way. Nothing changes.
    pub fn set_way(&mut self, way: Way) -> Result<(), CommError> {
        let Way::Single { least } = way else {
            self.go_in_pieces();
            return Ok(());
        };
        let refused = |reason: &str| CommError::SingleCopy { reason: reason.to_owned() };
        self.single_copy().map_err(refused)?;
        self.mail_mut().single = least;
        Ok(())
    }

    /// Sets [`Way::Pieces`], which every rank can go.
    pub fn go_in_pieces(&mut self) {
        self.mail_mut().single = usize::MAX;
    }
}

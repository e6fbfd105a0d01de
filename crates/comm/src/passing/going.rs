//! Sets the way of a rank's long messages.

use super::way::Way;
use super::{HoldsMail, Passing};
use crate::{Bulk, CommError, Watch};

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
        if way != Way::Pieces {
            self.single_copy()
                .map_err(|reason| CommError::SingleCopy { reason: reason.to_owned() })?;
        }
        self.go(way);
        Ok(())
    }

    /// Sets [`Way::Pieces`], which every rank can go.
    pub fn go_in_pieces(&mut self) {
        self.go(Way::Pieces);
    }

    fn go(&mut self, way: Way) {
        self.mail_mut().least = way.least();
    }
}

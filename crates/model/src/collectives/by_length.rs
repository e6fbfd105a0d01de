//! Messages whose costs change with their length.

use bandgap_units::{Bytes, Ns};

use super::PointToPoint;

/// Costs of messages up to some length, and of longer ones: the protocols of a machine, or the
/// segments of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct ByLength<M> {
    /// The longest message of each, ascending, and its costs.
    pub up_to: Vec<(Bytes, M)>,
    /// The costs of all longer ones.
    pub longer: M,
}

impl<M> ByLength<M> {
    fn of(&self, bytes: Bytes) -> &M {
        let found = self.up_to.iter().find(|(most, _)| bytes <= *most);
        found.map_or(&self.longer, |(_, costs)| costs)
    }
}

impl<M: PointToPoint> PointToPoint for ByLength<M> {
    fn message(&self, bytes: Bytes) -> Ns {
        self.of(bytes).message(bytes)
    }

    fn send_interval(&self, bytes: Bytes) -> Ns {
        self.of(bytes).send_interval(bytes)
    }

    fn relay_interval(&self, bytes: Bytes) -> Ns {
        self.of(bytes).relay_interval(bytes)
    }
}

//! What the machine allows, whatever the transport.

use serde::{Deserialize, Serialize};

use crate::{Number, Quantity};

/// One floor: a cache-line transfer, a memory copy, a bare socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// `cache_line`, `slot_ring`, `tcp`, … Times of exchanges are half round trips.
    pub name: String,
    /// The time or the rate.
    #[serde(flatten)]
    pub value: FloorValue,
    /// Label of the machine state it was taken in, where states were told apart.
    pub state: Option<String>,
    /// The samples, in the unit of the value.
    pub samples: Vec<Number>,
}

/// A floor is a least time or a greatest rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FloorValue {
    /// In seconds.
    Time(Quantity),
    /// In bytes per second.
    Rate(Quantity),
}

impl FloorValue {
    /// The quantity, whichever it is.
    pub fn quantity(&self) -> &Quantity {
        match self {
            FloorValue::Time(quantity) | FloorValue::Rate(quantity) => quantity,
        }
    }
}

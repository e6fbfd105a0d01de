//! A layer beside the floor it stands on.

use serde::{Deserialize, Serialize};

use crate::Quantity;

/// The time of a layer over the time of its floor, batch against neighbouring batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The layer's name.
    pub name: String,
    /// The floor's name.
    pub over: String,
    /// Time over time: 1 is as fast as the floor.
    pub ratio: Quantity,
    /// The placement state of both.
    pub state: Option<String>,
}

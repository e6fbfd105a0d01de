//! Where something stands.

use derive_more::{Display, From};
use serde::{Deserialize, Serialize};

/// A place on an axis.
#[derive(
    Clone, Debug, Display, From, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(untagged)]
pub enum Place {
    /// A count, a size, a rank.
    #[from(u64, u32)]
    Number(u64),
    /// A name.
    #[from(String, &str)]
    Text(String),
}

impl From<usize> for Place {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl Place {
    /// It as a number.
    pub fn number(&self) -> Option<u64> {
        match self {
            Place::Number(number) => Some(*number),
            Place::Text(_) => None,
        }
    }
}

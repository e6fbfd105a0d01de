//! Positions on an axis.

use std::slice;

use derive_more::{Display, From};
use serde::{Deserialize, Serialize};

/// A position on an axis.
#[derive(
    Clone, Debug, Display, From, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(untagged)]
pub enum Place {
    /// A count, a size or a rank.
    #[from(u64, u32)]
    Number(u64),
    /// A name.
    #[from(String, &str)]
    Text(String),
    /// Several names: the hosts of a pair, the algorithms that launches chose.
    #[from]
    #[display("{}", _0.join(", "))]
    List(Vec<String>),
}

impl From<usize> for Place {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl Place {
    /// The number; `None` for a name.
    pub fn number(&self) -> Option<u64> {
        match self {
            Place::Number(number) => Some(*number),
            Place::Text(_) | Place::List(_) => None,
        }
    }

    /// The names: one for a text, none for a number.
    pub fn names(&self) -> &[String] {
        match self {
            Place::Number(_) => &[],
            Place::Text(name) => slice::from_ref(name),
            Place::List(names) => names,
        }
    }
}

//! Which points of a series lie on one curve.

use serde::{Deserialize, Serialize};

use super::Pair;

/// What the points of one curve have in common, as far as the points of their series differ in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Which {
    /// The number of ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// The two ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Pair>,
    /// The variant of the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

impl Which {
    /// In words: `4 ranks, binomial`; empty where the series has one curve.
    pub(crate) fn words(&self) -> String {
        let parts = [
            self.ranks.map(|ranks| format!("{ranks} ranks")),
            self.pair.map(|[from, to]| format!("ranks {from} and {to}")),
            self.variant.clone(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

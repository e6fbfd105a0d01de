//! What the lists of algorithms have in common.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// One of the ways to carry out an operation of all ranks. Its name is also what serde writes.
pub trait Algorithm: Copy + Debug + Default + Eq + Serialize + DeserializeOwned + 'static {
    /// The operation, in one word.
    const OPERATION: &'static str;
    /// All algorithms for the operation.
    const ALL: &'static [Self];
    /// Their names, in the same order.
    const NAMES: &'static [&'static str];

    /// Its name.
    fn name(self) -> &'static str;

    /// Why it is of no use for so many ranks and bytes; `None` where it is.
    fn obstacle(self, ranks: usize, bytes: usize) -> Option<String>;

    /// Whether it is of use for so many ranks and bytes. Where ranks would pass on empty blocks it
    /// is not, though it would be right.
    ///
    /// # Errors
    /// It is not: why, and which are.
    fn fits(self, ranks: usize, bytes: usize) -> Result<(), String> {
        let Some(why) = self.obstacle(ranks, bytes) else { return Ok(()) };
        let fit = Self::ALL.iter().filter(|other| other.obstacle(ranks, bytes).is_none());
        let fit = fit.map(|other| other.name()).collect::<Vec<_>>().join(", ");
        let fit = if fit.is_empty() { "none" } else { &fit };
        let (operation, name) = (Self::OPERATION, self.name());
        let what = format!("a {operation} of {bytes} bytes on {ranks} ranks by {name}");
        Err(format!("{what} is of no use: {why}; these algorithms fit: {fit}"))
    }

    /// The algorithm of this name.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }
}

/// Makes the list of algorithms for an operation. Its type says by itself what stands against one
/// (`stands_against`).
macro_rules! algorithms {
    ($(#[$about:meta])* $list:ident, $operation:literal, $($(#[$doc:meta])* $variant:ident $name:literal)*) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize,
        )]
        pub enum $list {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl $crate::collectives::Algorithm for $list {
            const OPERATION: &'static str = $operation;
            const ALL: &'static [Self] = &[$(Self::$variant),*];
            const NAMES: &'static [&'static str] = &[$($name),*];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            fn obstacle(self, ranks: usize, bytes: usize) -> Option<String> {
                self.stands_against(ranks, bytes)
            }
        }
    };
}

pub(super) use algorithms;

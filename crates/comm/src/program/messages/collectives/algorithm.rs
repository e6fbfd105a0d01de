//! What the lists of algorithms share.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// An algorithm for an operation of all ranks. Serde writes its name.
pub trait Algorithm: Copy + Debug + Default + Eq + Serialize + DeserializeOwned + 'static {
    /// Name of the operation, in one word.
    const OPERATION: &'static str;
    /// All algorithms for the operation.
    const ALL: &'static [Self];
    /// Names of the algorithms, in the same order.
    const NAMES: &'static [&'static str];

    /// Name of the algorithm.
    fn name(self) -> &'static str;

    /// Why it does not work for this number of ranks and bytes; `None` if it does.
    fn obstacle(self, ranks: usize, bytes: usize) -> Option<String>;

    /// Checks that it works for this number of ranks and bytes. If ranks would pass on empty
    /// blocks, it is refused although its result would be right.
    ///
    /// # Errors
    /// It does not; the error says why, and which algorithms do.
    fn fits(self, ranks: usize, bytes: usize) -> Result<(), String> {
        let Some(why) = self.obstacle(ranks, bytes) else { return Ok(()) };
        let fit = Self::ALL.iter().filter(|other| other.obstacle(ranks, bytes).is_none());
        let fit = fit.map(|other| other.name()).collect::<Vec<_>>().join(", ");
        let fit = if fit.is_empty() { "none" } else { &fit };
        let (operation, name) = (Self::OPERATION, self.name());
        let what = format!("a {operation} of {bytes} bytes on {ranks} ranks");
        Err(format!("{name} does not fit {what}: {why}; algorithms that fit: {fit}"))
    }

    /// The algorithm with this name.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }
}

/// Defines the list of algorithms for an operation. Its type's method `stands_against` gives the
/// obstacle to each.
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

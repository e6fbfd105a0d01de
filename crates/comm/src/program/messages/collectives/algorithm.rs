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
    /// [`AlgorithmError::DoesNotFit`], which names those that do.
    fn fits(self, ranks: usize, bytes: usize) -> Result<(), AlgorithmError> {
        let Some(why) = self.obstacle(ranks, bytes) else { return Ok(()) };
        let fitting = listed(Self::fitting(ranks, bytes));
        let (operation, name) = (Self::OPERATION, self.name());
        Err(AlgorithmError::DoesNotFit { operation, name, ranks, bytes, why, fitting })
    }

    /// The algorithms that are of use for so many ranks and bytes.
    fn fitting(ranks: usize, bytes: usize) -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(move |algorithm| algorithm.obstacle(ranks, bytes).is_none())
    }

    /// The algorithm of this name.
    ///
    /// # Errors
    /// [`AlgorithmError::Unknown`], which names those there are.
    fn from_name(name: &str) -> Result<Self, AlgorithmError> {
        let mut all = Self::ALL.iter().copied();
        all.find(|algorithm| algorithm.name() == name).ok_or_else(|| AlgorithmError::Unknown {
            operation: Self::OPERATION,
            name: name.into(),
            known: listed(Self::ALL.iter().copied()),
        })
    }
}

/// Why an algorithm cannot be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AlgorithmError {
    /// There is none of this name.
    #[error("find an algorithm '{name}' for a {operation}: there are {known}")]
    Unknown {
        /// The operation.
        operation: &'static str,
        /// The name that was given.
        name: String,
        /// Those there are.
        known: String,
    },
    /// It is of no use for so many ranks and bytes.
    #[error("use {name} for a {operation} of {bytes} bytes on {ranks} ranks: {why}; {}", those(.fitting))]
    DoesNotFit {
        /// The operation.
        operation: &'static str,
        /// The algorithm.
        name: &'static str,
        /// Number of ranks.
        ranks: usize,
        /// Number of bytes.
        bytes: usize,
        /// What stands against it.
        why: String,
        /// Those that are of use; empty where none is.
        fitting: String,
    },
}

fn those(fitting: &str) -> String {
    match fitting {
        "" => "no algorithm fits".into(),
        _ => format!("these fit: {fitting}"),
    }
}

fn listed<A: Algorithm>(algorithms: impl Iterator<Item = A>) -> String {
    algorithms.map(A::name).collect::<Vec<_>>().join(", ")
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

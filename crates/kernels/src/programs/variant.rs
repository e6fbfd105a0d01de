//! The algorithm that a variant of a series names.

use bandgap_comm::collectives::Algorithm;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Refused;

/// The variant that leaves the algorithm to the library.
pub const LIBRARY: &str = "library";

/// How an operation of all ranks is done: by the library's own operation, or by one of our
/// algorithms. Serde writes its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By<A> {
    /// The operation of a library that has its own message passing.
    Library,
    /// This algorithm, over messages.
    Own(A),
}

impl<A: Algorithm> Default for By<A> {
    fn default() -> Self {
        Self::Own(A::default())
    }
}

impl<A: Algorithm> By<A> {
    /// The operation that a variant names, or the default one; `None` if the name is unknown.
    pub(super) fn variant(variant: Option<&str>) -> Option<Self> {
        match variant {
            None => Some(Self::default()),
            Some(LIBRARY) => Some(Self::Library),
            Some(name) => A::from_name(name).map(Self::Own),
        }
    }

    /// Our algorithm, if it is one.
    pub(super) fn own(self) -> Option<A> {
        match self {
            Self::Library => None,
            Self::Own(algorithm) => Some(algorithm),
        }
    }

    /// Checks that the algorithm works for this number of ranks and bytes.
    pub(super) fn check(self, ranks: usize, bytes: usize) -> Result<(), Refused> {
        self.own().map_or(Ok(()), |own| own.fits(ranks, bytes)).map_err(Refused::because)
    }
}

impl<A: Algorithm> Serialize for By<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.own().map_or(LIBRARY, A::name))
    }
}

impl<'de, A: Algorithm> Deserialize<'de> for By<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::variant(Some(&name)).ok_or_else(|| D::Error::custom(format!("no algorithm {name:?}")))
    }
}

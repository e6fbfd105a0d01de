//! The algorithm that a variant of a series names.

use bandgap_comm::collectives::Algorithm;

/// An algorithm by the name of a variant.
pub(super) trait OfVariant: Sized {
    /// The one of this name; the usual one where none is named.
    fn of_variant(variant: Option<&str>) -> Option<Self>;
}

impl<A: Algorithm> OfVariant for A {
    fn of_variant(variant: Option<&str>) -> Option<Self> {
        variant.map_or(Some(Self::default()), |name| Self::from_name(name).ok())
    }
}

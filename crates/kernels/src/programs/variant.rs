//! The algorithm that a variant of a series names.

use bandgap_comm::collectives::Algorithm;

/// The algorithm of this name, or the usual one; `None` for a name that it does not know.
pub(super) fn of_variant<A: Algorithm>(variant: Option<&str>) -> Option<A> {
    variant.map_or(Some(A::default()), |name| A::from_name(name).ok())
}

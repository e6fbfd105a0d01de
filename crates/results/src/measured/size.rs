//! Sizes in words.

use bandgap_kernels::Extent;
use bandgap_units::Bytes;

/// A place on the extent of a series: `64 B`, `8 elements`, `256 × 256`.
pub fn size_in_words(extent: Extent, size: u64) -> String {
    match extent {
        Extent::Dimension => format!("{size} × {size}"),
        Extent::Doubles if size == 1 => "1 element".to_owned(),
        Extent::Doubles => format!("{size} elements"),
        Extent::None | Extent::Bytes => Bytes(size).to_string(),
    }
}

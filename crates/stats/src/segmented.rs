//! Several straight lines, one after another, through points sorted by x.
//!
//! - [`partitions`]: the best cuts for each number of segments.
//! - [`search`]: also the number of segments, for noise in proportion to y.
//! - [`outliers`]: the points that a search should leave out.
//! - [`break_range`]: where a cut may be.
//!
//! The lines need not meet where a segment ends. Not here: the fit of a single segment
//! ([`crate::regression`]).

mod moments;
mod outliers;
mod partition;
mod search;

pub use outliers::outliers;
pub use partition::{EXACT, Points, break_range, partitions};
pub use search::{Choice, Cuts, Limits, search};

#[cfg(test)]
mod tests;

//! Quantities with their units in the type, and the one formatter of the project.
//!
//! Nothing here knows where a quantity comes from. SI and IEC prefixes are not mixed: [`Bytes`] reads
//! both and writes IEC only where it is exact.
#![forbid(unsafe_code)]

mod bytes;
mod component;
mod fraction;
mod library;
mod number;
mod place;
mod time;
mod timer;
mod typed;

pub use bytes::Bytes;
pub use component::{Category, Layer, Provenance, Side};
pub use fraction::Fraction;
pub use library::{Library, Ways};
pub use number::{SharedUnit, distinct, significant, significant_short};
pub use place::Place;
pub use time::Ns;
pub use timer::{Delay, Stamp, Timer};
pub use typed::UnitError;

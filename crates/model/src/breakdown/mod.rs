//! Where the time of a message goes: components, models over them as declared formulas, and what a
//! change of components would bring.
//!
//! - [`component`]: what is timed, and where it belongs.
//! - [`formula`]: sums and products of names and numbers, as text.
//! - [`declared`]: a model as a table declares it.
//! - [`stack`]: components and models together, checked.
//! - [`evaluate`]: values of models, and their derivatives by the components.
//! - [`divide`]: by component, category, layer and side.
//! - [`bounds`]: how long times may be.
//! - [`quotient`]: intervals of quotients.
//! - [`change`]: components made shorter or longer.
//! - [`insights`]: sentences that follow from the numbers.
//!
//! *Units*: nanoseconds. *Assumes* that the components of a model follow one another, and that the
//! errors of their times are independent.
//! *Source*: "Breaking Band: A Breakdown of High-performance Communication", sections 4 to 7.

pub mod bounds;
pub mod change;
pub mod component;
pub mod declared;
pub mod divide;
pub mod evaluate;
pub mod formula;
pub mod insights;
pub mod quotient;
pub mod stack;

pub use change::{Change, Ranked, Saved};
pub use component::{Category, Component, Known, Layer, Provenance, Side, Time};
pub use declared::{Declared, Observed};
pub use divide::By;
pub use evaluate::{Modelled, State};
pub use formula::Group;
pub use insights::Question;
pub use quotient::Off;
pub use stack::{Stack, StackError};

#[cfg(test)]
mod tests;

//! Where the time of a message goes: components, and models over them.

pub mod assemble;
pub(crate) mod measured;
mod schema;
mod shown;

pub(crate) use shown::{or_nothing, word};

pub use schema::{
    Arrivals, Breakdown, ComponentTime, Divided, HiddenTime, Inserted, LackingModel, Measured,
    ModelRounds, ModelTime, PartTime, TermOf, Within,
};

#[cfg(test)]
pub(crate) mod tests;

//! What a change of components would bring: before and after, a ranking, and speed-ups over reductions.

pub mod assemble;
mod schema;
mod shown;

pub use schema::{ChangeMade, ModelChange, RankedComponent, Ranking, SpeedUpCurve, WhatIf};

#[cfg(test)]
pub(crate) mod tests;

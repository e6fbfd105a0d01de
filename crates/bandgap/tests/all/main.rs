//! Tests of the project as a whole: [`architecture`] and [`program`].
#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

mod architecture;
mod program;

//! Tests of the project as a whole: [`architecture`], [`licences`] and [`program`].
#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

mod architecture;
#[path = "../../../sim/tests/all/damaged.rs"]
mod damaged;
mod licences;
mod program;
mod varying;

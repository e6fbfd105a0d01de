//! Tests of the project as a whole: [`architecture`], [`licences`] and [`program`].
#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

mod architecture;
mod licences;
mod program;

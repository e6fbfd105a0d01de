//! The kinds of result: from batches to what is recorded, printed and drawn.
#![forbid(unsafe_code)]

pub mod assemble;
mod files;
mod show;
mod verdict;

pub use files::{small_messages, write_all};
pub use show::results as text;
pub use verdict::has_findings;

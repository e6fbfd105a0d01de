//! Tables that other tools wrote, as plain columns: numbers with their lines, and how far they were rounded.
//!
//! - [`read_size_table`]: sizes and times, as CSV or as a benchmark printed them. What is read is a table of
//!   dialects (`dialects.rs`): a further tool is a further row, and a function only where its output has no
//!   columns under a heading.
//! - [`read_logp_table`]: times of the issue phase and of round trips, as CSV.
//! - [`lines`]: what readers of other tables are built on.
//!
//! Every reader takes a file whole or not at all, and says which line it cannot take. Nothing here knows what is
//! made of the numbers.

#![forbid(unsafe_code)]

mod columns;
mod csv;
mod dialects;
mod error;
mod headed;
mod json;
pub mod lines;
mod logp;
mod netpipe;
mod prefix;
mod sizes;
mod sockperf;
mod table;
mod ucx;

pub use columns::{Choice, Remark, Run, SizeRow, SizeTable, Timing};
pub use error::{TableError, shortened};
pub use logp::{LogpRow, Phase, read_logp_table};
pub use sizes::read_size_table;

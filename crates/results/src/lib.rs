//! The kinds of result: from batches to what is recorded, printed and drawn.
//!
//! A kind is a folder and a line in `list.rs`: its folder has the schema, how it is made of what
//! was measured, and what a reader sees of it ([`Shown`]). docs/adding-a-result.md says how to add
//! one.
#![forbid(unsafe_code)]

pub mod assemble;
pub mod batches;
pub mod contention;
mod error;
pub mod floor;
pub mod hockney;
mod kind;
mod list;
pub mod logp;
pub mod measured;
pub mod noise;
pub mod ratio;
pub mod rtt_pairs;
mod run;
pub mod series;
mod unknown;

pub use error::AssembleError;
pub use kind::{Among, File, Kind, Shown, Verdict};
pub use list::{KINDS, Outcome};
pub use run::{Run, summary, text, verdict, write_all};
pub use unknown::Unknown;

//! The kinds of result: from batches to what is recorded, printed and drawn.
//!
//! A kind is a folder and a line in the list below: its folder has the schema, how it is made of what
//! was measured, and what a reader sees of it ([`Shown`]). docs/adding-a-result.md says how to add
//! one.
#![forbid(unsafe_code)]

pub mod assemble;
mod error;
mod kind;
mod list;
pub mod measured;
mod run;
mod unknown;

pub use error::AssembleError;
pub use kind::{Among, File, Shown, Verdict};
pub use run::{Run, summary, text, verdict, write_all};
pub use unknown::Unknown;

use list::results;

// Its folder, its type: everything else reads this list.
results! {
    logp::Logp,
    rtt_pairs::RttPairs,
    series::Series,
    hockney::Hockney,
    hops::Hops,
    overlap::Overlap,
    contention::Contention,
    floor::Floor,
    ratio::Ratio,
    noise::Noise,
    batches::Batches,
    verification::Verification,
    pcie_trace::PcieTrace,
    breakdown::Breakdown,
    kernel_path::KernelPath,
    whatif::WhatIf,
}

//! A PCIe analyser's trace: times between packets, and the hardware's components.

pub mod assemble;
mod schema;
mod shown;

pub use schema::{DerivedTime, MissingTime, PcieTrace, TraceFile, TraceTime};

#[cfg(test)]
pub(crate) mod tests;

//! Derives the parameters of models from observations, with intervals.
//!
//! - [`observation`]: the input, and how rows of a table become it.
//! - [`signature`]: the output; [`extract`] makes it from observations.
//! - [`finding`]: which assumptions of a fit fail or are unchecked.
//! - [`breakdown`]: components of a message's path, models over them, and the effect of changes.
//! - [`mod@growth`]: how a time grows with the number of ranks or the size of a problem.
//! - [`hops`]: from times of messages over several distances to t_startup, t_byte and h.
//! - [`pcie`]: hardware times on a message's path, from a PCIe analyser's trace.
//! - [`hockney`]: from times of messages of any length to r∞, n½, t0 and π0; LogGP's G.
//!
//! Source of LogP's method: "Assessing Fast Network Interfaces" (the LogP paper), sections
//! "Communication microbenchmark" and "Microbenchmark signature". Times are nanoseconds in `f64`;
//! a derived time may be negative.
//!
//! Not here: how observations are made (kernels), and how numbers are shown (report).

#![forbid(unsafe_code)]

mod arm;
pub mod breakdown;
mod curve;
mod error;
pub mod finding;
pub mod growth;
pub mod hockney;
pub mod hops;
mod linear;
pub mod observation;
pub mod pcie;
mod regime;
mod scatter;
pub mod signature;

pub use error::ModelError;
pub use finding::Finding;
pub use hockney::{HockneyFit, HockneyOptions, SizedTimes};
pub use observation::{Observation, Phase, Row, observations_from_rows};
pub use signature::{Estimate, Options, Regime, Signature, extract};

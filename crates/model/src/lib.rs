//! From observations to the parameters of a model, with intervals.
//!
//! - [`observation`]: the input, and how rows of a table become it.
//! - [`signature`]: the output; [`extract`] makes it from observations.
//! - [`finding`]: where a signature's assumptions do not hold or are not checked.
//! - [`breakdown`]: components of a message's way, models over them, and what a change would bring.
//! - [`mod@growth`]: how a time grows with the ranks, or with the size of a problem.
//! - [`hops`]: times of messages over several distances, to t_startup, t_byte and h.
//! - [`pcie`]: what a PCIe analyser's trace says of the hardware on a message's way.
//! - [`hockney`]: times of messages of any length, to r∞, n½, t0 and π0; LogGP's G.
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

//! From a campaign's table to results: estimates with their intervals, models fitted, notes on what a number means.
#![forbid(unsafe_code)]

mod conditions;
mod error;
mod estimate;
mod fit;
mod hockney;
mod logp;
mod made;
mod samples;

pub use conditions::conditions;
pub use error::AssembleError;
pub use estimate::{Estimated, Measured};
pub use fit::{Fitting, SizedTable, SizedTime, TABLE};
pub use hockney::{Curve, hockney};
pub use logp::logp;
pub use made::{Builder, Made};
pub use samples::{SAMPLES, samples};

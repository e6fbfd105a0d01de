//! Statistics: every median, interval, fence and fit of bandgap is computed here.
//!
//! - [`quantile`]: the one definition of a quantile, and the median.
//! - [`interval`]: intervals of a mean (Student t) and of a quantile (order statistics).
//! - [`outlier`]: the fence that keeps interrupts out of a mean.
//! - [`batch`]: from samples to the value of a batch.
//! - [`mod@estimate`]: the mean of batches and the ratio of pairs, over launches and rounds.
//! - [`convergence`]: when an interval is narrow enough.
//! - [`interval::widened`]: intervals that include the variance between launches.
//! - [`mod@line`]: ordinary and weighted straight-line least squares.
//! - [`regression`]: a straight line with intervals, for absolute and for relative errors.
//! - [`segmented`]: several straight lines; where they end, and how many there are.
//! - [`rounds`]: what the batches of a round, and successive rounds, have in common.
//! - [`bootstrap`]: seeded resampling within groups, corrected for few samples.
//! - [`stream`]: mean, interval and quantiles of more samples than fit into memory.
//! - [`cluster`]: placement states in a series of probe times.
//! - [`comparison`]: whether two sides differ, by their launches.
//!
//! Not here: the meaning of a number (units, models) and its origin. Functions take plain `f64` in
//! any unit and return results in the same unit.

#![forbid(unsafe_code)]

pub mod batch;
pub mod bootstrap;
pub mod cluster;
pub mod comparison;
pub mod convergence;
pub mod estimate;
pub mod interval;
pub mod line;
pub mod outlier;
pub mod quantile;
pub mod regression;
pub mod rounds;
pub mod segmented;
pub mod stream;

pub use batch::{BatchEstimate, batch_value};
pub use cluster::{State, States};
pub use convergence::{Convergence, Rule};
pub use estimate::{estimate, ratio};
pub use interval::Interval;
pub use line::Line;
pub use regression::Regression;
pub use stream::Stream;

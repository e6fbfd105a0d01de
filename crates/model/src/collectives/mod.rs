//! What operations of all ranks cost, by algorithm, from what single messages cost.
//!
//! One formula for each algorithm, in terms of a [`PointToPoint`]: with [`Hockney`] it is the α + βn of
//! the literature, with [`ByLength`] the same with parameters that depend on the length; [`FittedMessages`]
//! has those of a fit and [`MeasuredMessages`] those of LogGP as they were measured, with their uncertainty.
//! All ranks begin at the same time; the time ends when the last rank has ended.
//!
//! *Assumes* of every formula: messages contend at their ranks only; copying costs nothing; blocks
//! are as long as the longest, ⌈n/P⌉. A formula is an equality or an upper bound, as its docstring
//! says.
//!
//! *Sources*: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
//! MPICH", IJHPCA 19(1), 2005; Alexandrov, Ionescu, Schauser, Scheiman, "LogGP", SPAA 1995.

mod algorithms;
mod fitted;
mod measured;
mod messages;

pub use algorithms::{barrier, broadcast, sum};
pub use fitted::FittedMessages;
pub use measured::{CostCurve, MeasuredCost, MeasuredMessages, MovedMessages};
pub use messages::{ByLength, Hockney, PointToPoint};

//! Tables with known truths in, parameters and intervals out.

mod collectives;
mod hockney;
mod hops;
mod tables;

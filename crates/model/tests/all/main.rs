//! Tables with known truths in, parameters and intervals out.

mod hockney;
mod tables;

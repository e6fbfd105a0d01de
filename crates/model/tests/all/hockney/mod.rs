//! Hockney fits of tables with known truths.

mod ipsc860;
mod refusals;
mod truth;
mod truths;

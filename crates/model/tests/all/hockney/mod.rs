//! Hockney fits of tables with known truths.

mod ipsc860;
mod launches;
mod outliers;
mod refusals;
mod truth;
mod truths;

//! Tables of noisy observations in, LogP parameters out.

mod machines;
mod missing;
mod recover;
mod shapes;
mod transfers;

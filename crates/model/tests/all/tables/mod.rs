//! Tables of noisy observations in, LogP parameters out.

mod arms;
mod machines;
mod missing;
mod recover;
mod shapes;
mod transfers;

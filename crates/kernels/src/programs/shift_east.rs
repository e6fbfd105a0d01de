//! A matrix shifted sidewards.

use super::shift::{Direction, Shift};
use crate::{MatrixKernel, Side};

/// `Shift` by N/q columns to the right.
pub type ShiftEast = MatrixKernel<Shift<East>>;

/// To the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct East;

impl Direction for East {
    const NAME: &'static str = "shift_east";
    const MEANING: &'static str = "a matrix shifted to the right by a block";
    const OPERATION: &'static str =
        "blocks sent to the rank on the right: t(N) is one of many in a row";
    const TO: Side = Side::Succ;
}

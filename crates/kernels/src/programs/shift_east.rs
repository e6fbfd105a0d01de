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
    const TO: Side = Side::Succ;
}

//! A matrix shifted upwards.

use super::shift::{Direction, Shift};
use crate::{MatrixKernel, Side};

/// `Shift` by N/p rows upwards.
pub type ShiftNorth = MatrixKernel<Shift<North>>;

/// Upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct North;

impl Direction for North {
    const NAME: &'static str = "shift_north";
    const TO: Side = Side::Top;
}

//! A column of a matrix given to all.

use bandgap_comm::{Rank, View};

use super::line_broadcast::{Line, LineBroadcast};
use crate::{Here, Local, MatrixKernel, Side};

/// `LineBroadcast` of a column, along the rows of the mesh. It is assembled in a buffer.
pub type ColumnBroadcast = MatrixKernel<LineBroadcast<Column>>;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column;

impl Line for Column {
    const NAME: &'static str = "column_broadcast";
    const NEXT: Side = Side::Succ;

    #[inline(always)]
    fn across(here: &Here) -> (usize, usize) {
        (here.matrix.mesh.columns, here.block.columns)
    }

    #[inline(always)]
    fn place(here: &Here) -> usize {
        here.position.1
    }

    #[inline(always)]
    fn rank(here: &Here, place: usize) -> Rank {
        here.matrix.mesh.rank(here.position.0, place)
    }

    #[inline(always)]
    fn view(here: &Here, local: &Local, index: usize) -> View {
        local.window(0, index, here.block.rows, 1)
    }

    #[inline(always)]
    fn buffer(here: &Here, at: usize) -> Option<View> {
        Some(View::buffer(at, here.block.rows, 1))
    }
}

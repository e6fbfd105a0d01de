//! A row of a matrix given to all.

use bandgap_comm::{Rank, View};

use super::line_broadcast::{Line, LineBroadcast};
use crate::{Here, Local, MatrixKernel, Side};

/// `LineBroadcast` of a row, along the columns of the mesh. Its elements lie side by side.
pub type RowBroadcast = MatrixKernel<LineBroadcast<Row>>;

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row;

impl Line for Row {
    const NAME: &'static str = "row_broadcast";
    const NEXT: Side = Side::Bottom;

    #[inline(always)]
    fn across(here: &Here) -> (usize, usize) {
        (here.matrix.mesh.rows, here.block.rows)
    }

    #[inline(always)]
    fn place(here: &Here) -> usize {
        here.position.0
    }

    #[inline(always)]
    fn rank(here: &Here, place: usize) -> Rank {
        here.matrix.mesh.rank(place, here.position.1)
    }

    #[inline(always)]
    fn view(here: &Here, local: &Local, index: usize) -> View {
        local.window(index, 0, 1, here.block.columns)
    }

    #[inline(always)]
    fn buffer(_here: &Here, _at: usize) -> Option<View> {
        None
    }
}

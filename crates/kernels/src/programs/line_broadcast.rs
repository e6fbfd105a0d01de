//! A row or a column of a matrix, sent to all ranks.

use bandgap_comm::{Comm, Rank, Result, View};

use crate::{Edge, Expects, Here, Local, Matrix, MatrixKernel, MatrixProgram, Places};

/// M times a line of a matrix, a row or a column, is sent to all ranks. Each rank that holds part
/// of the line sends it to all ranks that hold elements of the same columns (for a column: of the
/// same rows), and these put it where the line lies in their own blocks.
///
/// M times there and back: the first line belongs to the first block, and is sent to the nearest
/// rank first and to the farthest last; the second belongs to the last block, and is sent in the
/// opposite direction. So each operation begins when the one before has reached its last rank, and
/// the first rank sees both ends of 2M of them.
/// *Assumes* that the rank that is sent to last also receives the line last.
///
/// The line is received into a separate array. CoMet receives it into the block, where it would
/// overwrite the line that a later operation sends.
///
/// An operation moves N doubles to each other row (or column) of the mesh.
/// *Source*: CoMet, sections 3.3.11 and 4.3, figures 3.14 and 4.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineBroadcast<const COLUMN: bool>;

/// `LineBroadcast` of a row, along the columns of the mesh. Its elements are contiguous.
pub type RowBroadcast = MatrixKernel<LineBroadcast<false>>;

/// `LineBroadcast` of a column, along the rows of the mesh. It is assembled in a buffer first.
pub type ColumnBroadcast = MatrixKernel<LineBroadcast<true>>;

impl<const COLUMN: bool> LineBroadcast<COLUMN> {
    /// Number of blocks across the lines, and number of lines in each.
    #[inline(always)]
    fn across(here: &Here) -> (usize, usize) {
        let (mesh, block) = (here.matrix.mesh, here.block);
        if COLUMN { (mesh.columns, block.columns) } else { (mesh.rows, block.rows) }
    }

    /// Index of this rank's block among them.
    #[inline(always)]
    fn place(here: &Here) -> usize {
        if COLUMN { here.position.1 } else { here.position.0 }
    }

    /// The rank that holds the block with index `place` in this rank's row or column of the mesh.
    #[inline(always)]
    fn rank(here: &Here, place: usize) -> Rank {
        let (row, column) = here.position;
        let (row, column) = if COLUMN { (row, place) } else { (place, column) };
        here.matrix.mesh.rank(row, column)
    }

    /// Where line `index` of a block lies in memory.
    #[inline(always)]
    fn view(here: &Here, local: &Local, index: usize) -> View {
        match COLUMN {
            true => local.window(0, index, here.block.rows, 1),
            false => local.window(index, 0, 1, here.block.columns),
        }
    }

    /// The buffer at offset `at` in which part of a line is assembled, if it needs one.
    #[inline(always)]
    fn buffer(here: &Here, at: usize) -> Option<View> {
        COLUMN.then(|| View::buffer(at, here.block.rows, 1))
    }

    /// The block that holds the line of an operation, and the line's index in it.
    #[inline(always)]
    fn line(here: &Here, message: u64) -> (usize, usize) {
        let (blocks, lines) = Self::across(here);
        let block = if is_back(message) { blocks - 1 } else { 0 };
        (block, (message / 2 % lines as u64) as usize)
    }
}

/// Tag of a part of a line.
const LINE: u32 = 1;

/// Whether the line goes from the last block to the first.
#[inline(always)]
fn is_back(message: u64) -> bool {
    message % 2 == 1
}

impl<const COLUMN: bool> MatrixProgram for LineBroadcast<COLUMN> {
    const NAME: &'static str = if COLUMN { "column_broadcast" } else { "row_broadcast" };
    const PARTS: u32 = 2;

    fn moves(matrix: Matrix) -> u64 {
        let others = Self::across(&Here::new(matrix, 0)).0 - 1;
        (matrix.dimension * others) as u64
    }

    fn scratch(here: &Here) -> usize {
        Self::buffer(here, 0).map_or(0, |buffer| buffer.part().len)
    }

    fn partner(here: &Here) -> Rank {
        here.neighbour(if COLUMN { Edge::Succ } else { Edge::Bottom })
    }

    fn expects(here: &Here, places: &Places, message: u64, expects: &mut Expects) {
        let (sender, index) = Self::line(here, message);
        let source = Self::rank(here, sender);
        if sender != Self::place(here) {
            let local = here.block.local(places.incoming(message));
            let its = here.matrix.block(source);
            let arrives = its.in_view(local, Self::view(here, &local, index), message);
            return here.arrive(expects, source, arrives);
        }
        let local = here.block.local(places.outgoing(message));
        expects.fills.push(here.block.in_view(local, local.block(), message));
    }

    #[inline(always)]
    fn once<C: Comm>(comm: &mut C, here: &Here, places: &Places, message: u64) -> Result<()> {
        let (sender, index) = Self::line(here, message);
        let buffer = Self::buffer(here, places.scratch().at);
        if sender != Self::place(here) {
            let source = Self::rank(here, sender);
            let line = Self::view(here, &here.block.local(places.incoming(message)), index);
            comm.recv(source, LINE, buffer.unwrap_or(line).part())?;
            return buffer.map_or(Ok(()), |buffer| comm.copy_elements(buffer, line));
        }
        let line = Self::view(here, &here.block.local(places.outgoing(message)), index);
        if let Some(buffer) = buffer {
            comm.copy_elements(line, buffer)?;
        }
        for distance in 1..Self::across(here).0 {
            let place = if is_back(message) { sender - distance } else { distance };
            comm.send(Self::rank(here, place), LINE, buffer.unwrap_or(line).part())?;
        }
        Ok(())
    }
}

//! A matrix that is transposed.

use std::ops::RangeInclusive;

use bandgap_comm::{Comm, Rank, Result, View};

use crate::{
    Block, Expects, Here, Local, Matrix, MatrixKernel, MatrixProgram, Places, ProcessorMesh,
};

/// M times a matrix is transposed and divided over the mesh as before. Each rank exchanges with
/// each other rank the elements that belong in the other's block, and transposes those that arrive.
/// On a square mesh it exchanges its whole block with the rank at the transposed position; ranks on
/// the diagonal only transpose. On other meshes the blocks are not square, and a block of the
/// transposed matrix consists of parts of several blocks.
///
/// The rank at the right end of the first row times. A rank exchanges with the others in the order
/// of their positions, so that no two wait for each other.
///
/// An operation moves N · N doubles, less those that stay in their rank.
/// *Source*: CoMet, sections 3.3.10 and 4.3, figure 3.13.
pub type Transpose = MatrixKernel<Transposing>;

/// The program of [`Transpose`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transposing;

const TAG: u32 = 1;

impl MatrixProgram for Transposing {
    const NAME: &'static str = "transpose";

    fn moves(matrix: Matrix) -> u64 {
        let stay = (0..matrix.mesh.size()).map(|rank| {
            let here = Here::new(matrix, rank);
            let Piece { rows, columns, .. } = Piece::between(&here, here.position, here.position);
            (rows * columns) as u64
        });
        (matrix.dimension as u64).pow(2) - stay.sum::<u64>()
    }

    /// One buffer for what is sent, and one for what arrives.
    fn scratch(here: &Here) -> usize {
        2 * buffer_bytes(here)
    }

    fn timed(mesh: ProcessorMesh) -> (usize, usize) {
        (0, mesh.columns - 1)
    }

    fn partner(here: &Here) -> Rank {
        let ranks = peers(here).map(|(row, column)| here.matrix.mesh.rank(row, column));
        ranks.filter(|peer| *peer != here.rank()).last().unwrap_or(here.rank())
    }

    fn expects(here: &Here, places: &Places, message: u64, expects: &mut Expects) {
        let block = here.block;
        let own = block.local(places.outgoing(message));
        expects.fills.push(block.in_view(own, own.block(), message));
        let transposed = block.local(places.incoming(message));
        for position in peers(here) {
            let peer = here.matrix.mesh.rank(position.0, position.1);
            let piece = Piece::between(here, position, here.position);
            let view = piece.turned().within(&block, &transposed);
            let placed = block.placed(view, (piece.row, piece.column), message, true);
            here.arrive(expects, peer, placed.from(peer));
        }
    }

    #[inline(always)]
    fn once<C: Comm>(comm: &mut C, here: &Here, places: &Places, message: u64) -> Result<()> {
        let block = here.block;
        let own = block.local(places.outgoing(message));
        let transposed = block.local(places.incoming(message));
        let leaving = places.scratch().at;
        let arriving = leaving + buffer_bytes(here);
        for position in peers(here) {
            let peer = here.matrix.mesh.rank(position.0, position.1);
            let sent = Piece::between(here, here.position, position);
            let received = Piece::between(here, position, here.position);
            let from = sent.within(&block, &own);
            let into = received.turned().within(&block, &transposed).transposed();
            if peer == here.rank() {
                comm.copy_elements(from, into)?;
                continue;
            }
            let [sent, received] = [sent.buffer(leaving), received.buffer(arriving)];
            comm.copy_elements(from, sent)?;
            comm.exchange(peer, TAG, sent.part(), received.part())?;
            comm.copy_elements(received, into)?;
        }
        Ok(())
    }
}

/// A position in the mesh.
type Position = (usize, usize);

/// Elements of the matrix, before it is transposed, that go from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
}

impl Piece {
    /// The elements that the rank at `from` holds and the rank at `to` needs. Their rows are rows
    /// of `from`'s block and columns of `to`'s; their columns are columns of `from`'s and rows of
    /// `to`'s.
    #[inline(always)]
    fn between(here: &Here, from: Position, to: Position) -> Self {
        let (rows, columns) = (here.block.rows, here.block.columns);
        let (row, its_rows) = common((from.0 * rows, rows), (to.1 * columns, columns));
        let (column, its_columns) = common((from.1 * columns, columns), (to.0 * rows, rows));
        Self { row, column, rows: its_rows, columns: its_columns }
    }

    #[inline(always)]
    fn buffer(self, at: usize) -> View {
        View::buffer(at, self.rows, self.columns)
    }

    /// The same elements after the matrix is transposed.
    #[inline(always)]
    fn turned(self) -> Self {
        let Self { row, column, rows, columns } = self;
        Self { row: column, column: row, rows: columns, columns: rows }
    }

    /// Where the elements lie in an array of a block.
    #[inline(always)]
    fn within(self, block: &Block, local: &Local) -> View {
        let (row, column) = block.first;
        local.window(self.row - row, self.column - column, self.rows, self.columns)
    }
}

/// Begin and length of the overlap of two stretches.
#[inline(always)]
fn common(one: (usize, usize), other: (usize, usize)) -> (usize, usize) {
    let begin = one.0.max(other.0);
    (begin, (one.0 + one.1).min(other.0 + other.1).saturating_sub(begin))
}

/// The positions of the ranks that this one exchanges with, row by row.
#[inline(always)]
fn peers(here: &Here) -> impl Iterator<Item = Position> + use<> {
    let (rows, columns) = (here.block.rows, here.block.columns);
    let touched = |place: usize, length: usize, by: usize| -> RangeInclusive<usize> {
        place * length / by..=((place + 1) * length - 1) / by
    };
    let across = touched(here.position.0, rows, columns);
    touched(here.position.1, columns, rows)
        .flat_map(move |row| across.clone().map(move |column| (row, column)))
}

/// Bytes of the largest piece.
#[inline(always)]
fn buffer_bytes(here: &Here) -> usize {
    let (rows, columns) = (here.block.rows, here.block.columns);
    let side = rows.min(columns);
    side * side * size_of::<f64>()
}

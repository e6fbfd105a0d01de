//! A rank's block of a matrix, in an array with a guard ring one element wide.

use bandgap_comm::{Part, Rank, View};

use super::Elements;
use crate::{Content, Placed};

/// The block of a matrix that one rank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The rank.
    pub rank: Rank,
    /// Rows and columns of the matrix.
    pub dimension: usize,
    /// Row and column in the matrix of its first element.
    pub first: (usize, usize),
    /// Its rows.
    pub rows: usize,
    /// Its columns.
    pub columns: usize,
}

/// Width of the guard ring.
const GUARD: usize = 1;

/// A side of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Above the first row.
    Top,
    /// Below the last row.
    Bottom,
    /// To the right of the last column.
    Succ,
    /// To the left of the first column.
    Pred,
}

impl Edge {
    /// All sides; each stands at its own index.
    pub const ALL: [Self; 4] = [Self::Top, Self::Bottom, Self::Succ, Self::Pred];

    /// Index in [`Edge::ALL`].
    #[inline(always)]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The opposite side: the neighbour on this side meets this block there.
    #[inline(always)]
    pub fn opposite(self) -> Self {
        Self::ALL[self.index() ^ 1]
    }
}

impl Block {
    /// Bytes of the block's array, with the guard ring.
    pub fn bytes(&self) -> usize {
        (self.rows + 2 * GUARD) * (self.columns + 2 * GUARD) * size_of::<f64>()
    }

    /// The block's array, which begins where `part` begins.
    #[inline(always)]
    pub fn local(&self, part: Part) -> Local {
        let (rows, columns) = (self.rows, self.columns);
        let array = View::buffer(part.at, rows + 2 * GUARD, columns + 2 * GUARD);
        Local { array, rows, columns }
    }

    /// The elements in `view`, a part of `local`, if `local` holds this block and the elements
    /// around it in the matrix.
    pub(crate) fn in_view(&self, local: Local, view: View, message: u64) -> Placed {
        let row = (view.at - local.array.at) / size_of::<f64>() / local.array.row_stride;
        let column = (view.at - local.array.at) / size_of::<f64>() % local.array.row_stride;
        let before = self.dimension - GUARD;
        let first = (
            (self.first.0 + before + row) % self.dimension,
            (self.first.1 + before + column) % self.dimension,
        );
        self.placed(view, first, message, false)
    }

    /// The elements in `view`, the first of which is `first` in the matrix. If `transposed`, a row
    /// of the view is part of a column of the matrix.
    pub(crate) fn placed(
        &self,
        view: View,
        first: (usize, usize),
        message: u64,
        transposed: bool,
    ) -> Placed {
        let elements = Elements {
            source: self.rank,
            message,
            dimension: self.dimension,
            first,
            rows: view.rows,
            columns: view.columns,
            stride: view.row_stride,
            transposed,
        };
        Placed { part: view.part(), content: Content::Elements(elements), messages: 0 }
    }
}

/// A block's array with its guard ring, in a rank's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// The array, with its guard ring.
    pub array: View,
    rows: usize,
    columns: usize,
}

impl Local {
    /// `rows` × `columns` elements of the block, the first of which is at this row and column.
    #[inline(always)]
    pub fn window(&self, row: usize, column: usize, rows: usize, columns: usize) -> View {
        self.array.window(GUARD + row, GUARD + column, rows, columns)
    }

    /// The block.
    #[inline(always)]
    pub fn block(&self) -> View {
        self.window(0, 0, self.rows, self.columns)
    }

    /// Outermost row or column of the block on a side; the neighbour there holds it in its guard
    /// ring.
    #[inline(always)]
    pub fn edge(&self, side: Edge) -> View {
        let Self { rows, columns, .. } = *self;
        match side {
            Edge::Top => self.window(0, 0, 1, columns),
            Edge::Bottom => self.window(rows - 1, 0, 1, columns),
            Edge::Pred => self.window(0, 0, rows, 1),
            Edge::Succ => self.window(0, columns - 1, rows, 1),
        }
    }

    /// One side of the guard ring, without corners.
    #[inline(always)]
    pub fn guard(&self, side: Edge) -> View {
        let Self { array, rows, columns } = *self;
        match side {
            Edge::Top => array.window(0, GUARD, GUARD, columns),
            Edge::Bottom => array.window(GUARD + rows, GUARD, GUARD, columns),
            Edge::Pred => array.window(GUARD, 0, rows, GUARD),
            Edge::Succ => array.window(GUARD, GUARD + columns, rows, GUARD),
        }
    }

    /// The four corners of the guard ring.
    pub fn corners(&self) -> [View; 4] {
        let (last_row, last_column) = (GUARD + self.rows, GUARD + self.columns);
        [(0, 0), (0, last_column), (last_row, 0), (last_row, last_column)]
            .map(|(row, column)| self.array.window(row, column, GUARD, GUARD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows 2 and 3, columns 0 to 2 of a matrix of 6 × 6.
    const BLOCK: Block = Block { rank: 1, dimension: 6, first: (2, 0), rows: 2, columns: 3 };

    #[test]
    fn block_sides_and_corners_are_each_element_of_the_array_once() {
        // 4 rows of 5 with the ring.
        let part = Part::new(16, 8 * 4 * 5);
        assert_eq!(BLOCK.bytes(), part.len);
        let local = BLOCK.local(part);
        assert_eq!(local.array.part(), part);
        let guards = Edge::ALL.map(|side| local.guard(side));
        let mut elements: Vec<usize> = guards
            .into_iter()
            .chain(local.corners())
            .chain([local.block()])
            .flat_map(|view| (0..view.rows * view.columns).map(move |i| (view, i)))
            .map(|(v, i)| v.window(i / v.columns, i % v.columns, 1, 1).at)
            .collect();
        elements.sort_unstable();
        assert_eq!(elements, (0..20).map(|element| 16 + 8 * element).collect::<Vec<_>>());
    }

    #[test]
    fn a_guard_holds_what_lies_next_to_the_block_round_the_matrix() {
        let local = BLOCK.local(Part::new(16, BLOCK.bytes()));
        let first = |view| match BLOCK.in_view(local, view, 0).content {
            Content::Elements(elements) => elements.first,
            other => panic!("{other:?}"),
        };
        let guards = Edge::ALL.map(|side| first(local.guard(side)));
        // Above row 2 is row 1, below row 3 is row 4; behind column 2 is column 3, before column 0
        // the last one.
        assert_eq!(guards, [(1, 0), (4, 0), (2, 3), (2, 5)]);
        let edges = Edge::ALL.map(|side| first(local.edge(side)));
        assert_eq!(edges, [(2, 0), (3, 0), (2, 2), (2, 0)]);
        assert_eq!((first(local.array), first(local.block())), ((1, 5), (2, 0)));
        assert!(Edge::ALL.iter().all(|side| side.opposite().opposite() == *side));
        assert_eq!(Edge::Top.opposite(), Edge::Bottom);
        assert_eq!(Edge::Succ.opposite(), Edge::Pred);
    }
}

//! Rows and columns with ends.

use super::Topology;
use super::grid::Grid;
use bandgap_comm::Rank;

/// A two-dimensional mesh: each node has a neighbour above, below, left and right, except at the
/// edges. Nodes are numbered row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mesh(Grid);

impl Mesh {
    /// One of so many rows and columns; `None` without nodes, or with too many to count.
    pub fn new(rows: usize, columns: usize) -> Option<Self> {
        Grid::new(rows, columns).map(Self)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.0.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.0.columns
    }
}

impl Topology for Mesh {
    fn size(&self) -> usize {
        self.0.size()
    }

    /// Rows and columns between them.
    fn distance(&self, a: Rank, b: Rank) -> u32 {
        let (rows, columns) = self.0.between(a, b);
        (rows + columns) as u32
    }

    fn diameter(&self) -> u32 {
        (self.0.rows + self.0.columns - 2) as u32
    }

    fn neighbours(&self, node: Rank) -> Vec<Rank> {
        let Grid { rows, columns } = self.0;
        let (row, column) = self.0.place(node);
        let above = row.checked_sub(1).map(|row| (row, column));
        let left = column.checked_sub(1).map(|column| (row, column));
        let below = (row + 1 < rows).then_some((row + 1, column));
        let right = (column + 1 < columns).then_some((row, column + 1));
        self.0.nodes([above, left, right, below].into_iter().flatten())
    }
}

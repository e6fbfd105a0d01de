//! Rows and columns that close to rings.

use super::Topology;
use super::grid::Grid;
use bandgap_comm::Rank;

/// A two-dimensional torus: a mesh whose rows and columns are rings. Nodes are numbered row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torus(Grid);

impl Torus {
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

impl Topology for Torus {
    fn size(&self) -> usize {
        self.0.size()
    }

    /// Rows and columns between them, each the shorter way round.
    fn distance(&self, a: Rank, b: Rank) -> u32 {
        let (rows, columns) = self.0.between(a, b);
        (rows.min(self.0.rows - rows) + columns.min(self.0.columns - columns)) as u32
    }

    fn diameter(&self) -> u32 {
        (self.0.rows / 2 + self.0.columns / 2) as u32
    }

    fn neighbours(&self, node: Rank) -> Vec<Rank> {
        let Grid { rows, columns } = self.0;
        let (row, column) = self.0.place(node);
        let vertical = [row + 1, row + rows - 1].map(|row| (row % rows, column));
        let horizontal = [column + 1, column + columns - 1].map(|column| (row, column % columns));
        let mut nodes = self.0.nodes(vertical.into_iter().chain(horizontal));
        // A ring of one node leads back to it.
        nodes.retain(|&other| other != node);
        nodes
    }
}

//! Nodes in rows and columns, numbered row by row.

use bandgap_comm::Rank;

/// The nodes that a mesh and a torus have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub rows: usize,
    pub columns: usize,
}

impl Grid {
    /// `None` without nodes, or if they, or the hops between them, cannot be counted.
    pub fn new(rows: usize, columns: usize) -> Option<Self> {
        let nodes = rows.checked_mul(columns)?;
        u32::try_from(rows.checked_add(columns)?).ok()?;
        (nodes > 0).then_some(Self { rows, columns })
    }

    pub fn size(self) -> usize {
        self.rows * self.columns
    }

    /// Row and column of a node.
    pub fn place(self, node: Rank) -> (usize, usize) {
        (node / self.columns, node % self.columns)
    }

    /// How many rows and columns lie between two nodes, without going round.
    pub fn between(self, a: Rank, b: Rank) -> (usize, usize) {
        let (a, b) = (self.place(a), self.place(b));
        (a.0.abs_diff(b.0), a.1.abs_diff(b.1))
    }

    /// The nodes at these places, ascending, each once.
    pub fn nodes(self, places: impl IntoIterator<Item = (usize, usize)>) -> Vec<Rank> {
        let node = |(row, column)| row * self.columns + column;
        let mut nodes: Vec<Rank> = places.into_iter().map(node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

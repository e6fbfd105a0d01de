//! Rows and columns, with ends or closed to rings.

use super::Topology;
use bandgap_comm::Rank;

/// Nodes in rows and columns, numbered row by row. Each has a neighbour above, below, left and right: in a mesh except at
/// the edges, while rows and columns of a torus are rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    rows: usize,
    columns: usize,
    is_torus: bool,
}

impl Grid {
    /// A mesh of so many rows and columns; `None` without nodes, or if they, or the hops between them, cannot be counted.
    pub fn mesh(rows: usize, columns: usize) -> Option<Self> {
        let nodes = rows.checked_mul(columns)?;
        u32::try_from(rows.checked_add(columns)?).ok()?;
        (nodes > 0).then_some(Self { rows, columns, is_torus: false })
    }

    /// A torus of so many; `None` as of a mesh.
    pub fn torus(rows: usize, columns: usize) -> Option<Self> {
        Self::mesh(rows, columns).map(|mesh| Self { is_torus: true, ..mesh })
    }

    /// Number of rows, and of columns.
    pub(crate) fn sides(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    /// Whether the way up a row or column of some length is taken: in a torus the shorter one.
    pub(crate) fn ascends(&self, length: usize, at: usize, goal: usize) -> bool {
        if !self.is_torus {
            return at < goal;
        }
        let up = (goal + length - at) % length;
        up <= length - up
    }
}

impl Topology for Grid {
    fn size(&self) -> usize {
        self.rows * self.columns
    }

    /// Rows and columns between them, in a torus each the shorter way round.
    fn distance(&self, a: Rank, b: Rank) -> u32 {
        let between = |length: usize, a: usize, b: usize| {
            let straight = a.abs_diff(b);
            if self.is_torus { straight.min(length - straight) } else { straight }
        };
        let columns = self.columns;
        let rows = between(self.rows, a / columns, b / columns);
        (rows + between(columns, a % columns, b % columns)) as u32
    }

    fn diameter(&self) -> u32 {
        let longest = match self.is_torus {
            true => self.rows / 2 + self.columns / 2,
            false => self.rows + self.columns - 2,
        };
        longest as u32
    }
}

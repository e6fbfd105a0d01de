//! Meshes: ranks in rows and columns over which a matrix is divided.

use derive_more::Display;
use serde::{Deserialize, Serialize};

use bandgap_comm::Rank;

use super::Edge;

/// Which rank is at which position of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeshOrder {
    /// Row by row: rank = row · columns + column.
    #[default]
    RowMajor,
    /// The rank is the binary reflected Gray code of the row followed by that of the column, so
    /// that neighbours in the mesh, also across its edges, are neighbours in a hypercube. Both
    /// sides must be powers of two.
    Gray,
}

/// Ranks in `rows` × `columns` positions. Opposite edges are joined: the last row is above the
/// first.
///
/// A peer may send any values, which [`ProcessorMesh::is_of`] checks. The other methods assume a
/// valid mesh, and ranks and positions inside it.
/// *Source*: CoMet, sections 3.4.1 and 4.3, figure 4.1.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[display("{rows}x{columns}")]
pub struct ProcessorMesh {
    /// Positions in a column.
    pub rows: usize,
    /// Positions in a row.
    pub columns: usize,
    /// Order of the ranks.
    pub order: MeshOrder,
}

/// This number of ranks has no usual mesh: it is neither a square nor twice a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMesh {
    /// Number of ranks.
    pub ranks: usize,
    /// Next smaller number that has one.
    pub below: Option<usize>,
    /// Next larger number that has one.
    pub above: usize,
}

impl ProcessorMesh {
    /// A mesh without ranks.
    pub const NONE: Self = Self { rows: 0, columns: 0, order: MeshOrder::RowMajor };

    /// A mesh with these sides: in Gray order if both are powers of two, otherwise row by row.
    pub fn new(rows: usize, columns: usize) -> Self {
        let gray = rows.is_power_of_two() && columns.is_power_of_two();
        let order = if gray { MeshOrder::Gray } else { MeshOrder::RowMajor };
        Self { rows, columns, order }
    }

    /// The usual mesh of `ranks` ranks: with equal sides if their number is a square, with twice as
    /// many rows as columns if it is twice a square. *Source*: CoMet, section 3.4.1.
    ///
    /// # Errors
    /// The number is neither.
    pub fn for_ranks(ranks: usize) -> Result<Self, NoMesh> {
        let sides = |ranks: usize| {
            let root = |of: usize| Some(of.isqrt()).filter(|side| side * side == of && of > 0);
            let equal = root(ranks).map(|side| (side, side));
            let half = Some(ranks / 2).filter(|_| ranks.is_multiple_of(2));
            equal.or_else(|| half.and_then(root).map(|side| (2 * side, side)))
        };
        if let Some((rows, columns)) = sides(ranks) {
            return Ok(Self::new(rows, columns));
        }
        let below = (1..ranks).rev().find(|ranks| sides(*ranks).is_some());
        let above = (ranks.saturating_add(1)..).find(|ranks| sides(*ranks).is_some());
        Err(NoMesh { ranks, below, above: above.unwrap_or(usize::MAX) })
    }

    /// Whether the mesh has `ranks` ranks, in an order that its sides allow.
    pub fn is_of(self, ranks: usize) -> bool {
        let Self { rows, columns, order } = self;
        let both = rows.is_power_of_two() && columns.is_power_of_two();
        ranks > 0
            && rows.checked_mul(columns) == Some(ranks)
            && (both || order == MeshOrder::RowMajor)
    }

    /// Smallest dimension of a square matrix that divides into equal blocks, one for each rank. It
    /// is the least common multiple of the sides; the other possible dimensions are its multiples.
    pub fn least_dimension(self) -> usize {
        let (mut divisor, mut rest) = (self.rows, self.columns);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        self.rows / divisor * self.columns
    }

    /// Number of ranks.
    pub fn size(self) -> usize {
        self.rows * self.columns
    }

    /// The rank at a position.
    #[inline]
    pub fn rank(self, row: usize, column: usize) -> Rank {
        let (row, column) = match self.order {
            MeshOrder::RowMajor => (row, column),
            MeshOrder::Gray => (gray(row), gray(column)),
        };
        row * self.columns + column
    }

    /// Row and column of a rank.
    #[inline]
    pub fn position(self, rank: Rank) -> (usize, usize) {
        let (row, column) = (rank / self.columns, rank % self.columns);
        match self.order {
            MeshOrder::RowMajor => (row, column),
            MeshOrder::Gray => (gray_place(row), gray_place(column)),
        }
    }

    /// The neighbour on one side.
    pub fn neighbour(self, rank: Rank, side: Edge) -> Rank {
        let (row, column) = self.position(rank);
        match side {
            Edge::Top => self.rank((row + self.rows - 1) % self.rows, column),
            Edge::Bottom => self.rank((row + 1) % self.rows, column),
            Edge::Pred => self.rank(row, (column + self.columns - 1) % self.columns),
            Edge::Succ => self.rank(row, (column + 1) % self.columns),
        }
    }
}

/// The binary reflected Gray code of a number.
fn gray(number: usize) -> usize {
    number ^ number >> 1
}

/// The number that has this Gray code: bit k is the parity of the code's bits k and above.
fn gray_place(code: usize) -> usize {
    let mut number = code;
    let mut shift = 1;
    while shift < usize::BITS {
        number ^= number >> shift;
        shift *= 2;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(mesh: ProcessorMesh, rank: Rank) -> [Rank; 4] {
        Edge::ALL.map(|side| mesh.neighbour(rank, side))
    }

    fn orders(rows: usize, columns: usize) -> impl Iterator<Item = ProcessorMesh> {
        let mesh = ProcessorMesh::new(rows, columns);
        let orders =
            [MeshOrder::RowMajor, MeshOrder::Gray].map(|order| ProcessorMesh { order, ..mesh });
        orders.into_iter().filter(move |mesh| mesh.is_of(rows * columns))
    }

    #[test]
    fn every_rank_has_a_position_and_its_neighbours_lie_round_it() {
        for (rows, columns) in (1..=8).flat_map(|rows| (1..=8).map(move |columns| (rows, columns)))
        {
            for mesh in orders(rows, columns) {
                let mut seen = vec![false; mesh.size()];
                for row in 0..rows {
                    for column in 0..columns {
                        let rank = mesh.rank(row, column);
                        assert_eq!(mesh.position(rank), (row, column));
                        assert!(!std::mem::replace(&mut seen[rank], true));
                        let up = mesh.rank(if row == 0 { rows - 1 } else { row - 1 }, column);
                        let left =
                            mesh.rank(row, if column == 0 { columns - 1 } else { column - 1 });
                        assert_eq!([beside(mesh, rank)[0], beside(mesh, rank)[3]], [up, left]);
                        assert_eq!([beside(mesh, up)[1], beside(mesh, left)[2]], [rank, rank]);
                    }
                }
                assert!(seen.into_iter().all(|seen| seen));
            }
        }
    }

    #[test]
    fn neighbours_in_gray_order_differ_in_one_bit() {
        for sides in (0..5).flat_map(|a| (0..5).map(move |b| (1_usize << a, 1_usize << b))) {
            let mesh = ProcessorMesh::new(sides.0, sides.1);
            assert_eq!(mesh.order, MeshOrder::Gray);
            for rank in 0..mesh.size() {
                let bits = |other: Rank| (rank ^ other).count_ones();
                let vertical = u32::from(mesh.rows > 1);
                let horizontal = u32::from(mesh.columns > 1);
                let [top, bottom, succ, pred] = beside(mesh, rank).map(bits);
                assert_eq!([top, bottom], [vertical; 2], "{mesh}");
                assert_eq!([pred, succ], [horizontal; 2], "{mesh}");
            }
        }
    }

    #[test]
    fn the_gray_order_is_that_of_the_thesis() {
        // Figure 4.1 numbers the positions row by row, every second row from right to left, and
        // takes the Gray codes of these numbers: of 4 × 2 the codes of 0 1 / 3 2 / 4 5 / 7 6.
        let mesh = ProcessorMesh::new(4, 2);
        let ranks = |row| [mesh.rank(row, 0), mesh.rank(row, 1)];
        assert_eq!([0, 1, 2, 3].map(ranks), [[0, 1], [2, 3], [6, 7], [4, 5]]);
        for sides in [(2, 8), (4, 4), (8, 2), (16, 4)] {
            let mesh = ProcessorMesh::new(sides.0, sides.1);
            for (row, step) in (0..sides.0).flat_map(|r| (0..sides.1).map(move |s| (r, s))) {
                let column = if row % 2 == 0 { step } else { sides.1 - 1 - step };
                assert_eq!(mesh.rank(row, column), gray(row * sides.1 + step));
            }
        }
    }

    #[test]
    fn a_number_of_ranks_makes_a_square_or_two_squares_or_says_which_would() {
        let sides = |ranks| ProcessorMesh::for_ranks(ranks).map(|mesh| (mesh.rows, mesh.columns));
        for (ranks, expected) in
            [(1, (1, 1)), (2, (2, 1)), (4, (2, 2)), (8, (4, 2)), (9, (3, 3)), (18, (6, 3))]
        {
            assert_eq!(sides(ranks), Ok(expected));
        }
        let error = |ranks: usize| sides(ranks).unwrap_err();
        assert_eq!(error(6), NoMesh { ranks: 6, below: Some(4), above: 8 });
        assert_eq!(error(0), NoMesh { ranks: 0, below: None, above: 1 });
        assert_eq!(error(12), NoMesh { ranks: 12, below: Some(9), above: 16 });
    }

    #[test]
    fn the_least_dimension_divides_by_both_sides() {
        let least = |rows, columns| ProcessorMesh::new(rows, columns).least_dimension();
        assert_eq!([least(1, 1), least(4, 2), least(6, 4), least(3, 5)], [1, 4, 12, 15]);
    }

    #[test]
    fn a_mesh_from_a_peer_is_one_of_these_ranks_or_refused() {
        let mesh = |rows, columns, order| ProcessorMesh { rows, columns, order };
        assert!(mesh(3, 2, MeshOrder::RowMajor).is_of(6) && mesh(1, 2, MeshOrder::Gray).is_of(2));
        for wrong in [
            mesh(3, 2, MeshOrder::Gray),
            mesh(6, 2, MeshOrder::RowMajor),
            mesh(0, 6, MeshOrder::RowMajor),
            mesh(usize::MAX, usize::MAX, MeshOrder::RowMajor),
        ] {
            assert!(!wrong.is_of(6), "{wrong}");
        }
        assert!(!mesh(0, 0, MeshOrder::RowMajor).is_of(0));
    }
}

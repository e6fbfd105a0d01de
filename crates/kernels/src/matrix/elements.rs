//! Which elements of a matrix lie where.

use bandgap_comm::Rank;

/// Elements of a matrix, stored in rows of a rank's memory. The value of each identifies its row
/// and column, and in a checked batch also the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// The rank whose block holds the elements. It sends them to other ranks that need them.
    pub source: Rank,
    /// Number of the message.
    pub message: u64,
    /// Rows and columns of the matrix (N). The first row follows the last one, and the first column
    /// the last.
    pub dimension: usize,
    /// Row and column in the matrix of the first element in memory.
    pub first: (usize, usize),
    /// Rows in memory.
    pub rows: usize,
    /// Elements in each row in memory.
    pub columns: usize,
    /// Distance between two rows in memory, in elements.
    pub stride: usize,
    /// Whether a row in memory is part of a column of the matrix.
    pub transposed: bool,
}

impl Elements {
    /// Row and column in the matrix of the element at `index` in memory.
    pub(crate) fn place(&self, index: usize) -> (usize, usize) {
        let (down, along) = (index / self.columns, index % self.columns);
        let (down, along) = if self.transposed { (along, down) } else { (down, along) };
        ((self.first.0 + down) % self.dimension, (self.first.1 + along) % self.dimension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_counted_row_by_row_and_go_round_the_matrix() {
        let straight = Elements {
            source: 0,
            message: 0,
            dimension: 8,
            first: (7, 2),
            rows: 2,
            columns: 3,
            stride: 10,
            transposed: false,
        };
        let places = |elements: Elements| [0, 1, 2, 3].map(|index| elements.place(index));
        assert_eq!(places(straight), [(7, 2), (7, 3), (7, 4), (0, 2)]);
        let transposed = Elements { transposed: true, ..straight };
        assert_eq!(places(transposed), [(7, 2), (0, 2), (1, 2), (7, 3)]);
    }
}

//! Views: rows and columns of elements in a rank's memory.

use crate::{CommError, Part, Result};

/// Bytes of an element: a double.
const ELEMENT: usize = size_of::<f64>();

/// Rows and columns of elements of 8 bytes in a rank's memory, e.g. a block of a matrix, one of its
/// rows or columns, or a buffer. Like a [`Part`] it borrows nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Offset of the first element, in bytes.
    pub at: usize,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Distance between rows, in elements.
    pub row_stride: usize,
    /// Distance between columns, in elements.
    pub column_stride: usize,
}

impl View {
    /// `rows` × `columns` elements, row by row without gaps, from offset `at` on.
    pub const fn buffer(at: usize, rows: usize, columns: usize) -> Self {
        Self { at, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// The same elements, with rows and columns exchanged.
    pub const fn transposed(self) -> Self {
        let Self { at, rows, columns, row_stride, column_stride } = self;
        Self {
            at,
            rows: columns,
            columns: rows,
            row_stride: column_stride,
            column_stride: row_stride,
        }
    }

    /// `rows` × `columns` of its elements, beginning at row `row` and column `column`.
    pub const fn window(self, row: usize, column: usize, rows: usize, columns: usize) -> Self {
        let first = row * self.row_stride + column * self.column_stride;
        Self { at: self.at + ELEMENT * first, rows, columns, ..self }
    }

    /// The part from its first to its last element; saturates.
    pub fn part(self) -> Part {
        let Self { at, rows, columns, row_stride, column_stride } = self;
        if rows == 0 || columns == 0 {
            return Part::new(at, 0);
        }
        let last = (rows - 1)
            .saturating_mul(row_stride)
            .saturating_add((columns - 1).saturating_mul(column_stride));
        Part::new(at, last.saturating_add(1).saturating_mul(ELEMENT))
    }

    /// Copies its elements in `memory` to those of `into`, which must have the same numbers of rows
    /// and columns. The parts of both must not overlap.
    ///
    /// # Errors
    /// [`CommError::NotInMemory`]; [`CommError::Shapes`] if rows or columns differ;
    /// [`CommError::Overlap`].
    #[inline]
    pub fn copy(self, memory: &mut [u8], into: Self) -> Result<()> {
        let (rows, columns) = (self.rows, self.columns);
        if (rows, columns) != (into.rows, into.columns) {
            return Err(CommError::Shapes {
                from: (rows, columns),
                into: (into.rows, into.columns),
            });
        }
        let [from_part, into_part] = [self.part(), into.part()];
        from_part.of(memory)?;
        into_part.of(memory)?;
        from_part.apart(into_part)?;
        let Ok([from, to]) = memory.get_disjoint_mut([from_part.range(), into_part.range()]) else {
            // The parts do not overlap.
            return Ok(());
        };
        let (from, to) = (from.as_chunks::<ELEMENT>().0, to.as_chunks_mut::<ELEMENT>().0);
        if self.column_stride == 1 && into.column_stride == 1 {
            for row in 0..rows {
                let [source, target] = [self, into].map(|view| row * view.row_stride);
                to[target..][..columns].copy_from_slice(&from[source..][..columns]);
            }
            return Ok(());
        }
        // In tiles small enough for the lines of both sides to stay in the first-level cache.
        for row in (0..rows).step_by(TILE) {
            for column in (0..columns).step_by(TILE) {
                for row in row..rows.min(row + TILE) {
                    for column in column..columns.min(column + TILE) {
                        let [source, target] = [self, into]
                            .map(|view| row * view.row_stride + column * view.column_stride);
                        to[target] = from[source];
                    }
                }
            }
        }
        Ok(())
    }
}

/// Rows and columns of a tile: two cache lines of 64 bytes.
const TILE: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(elements: usize) -> Vec<u8> {
        (0..elements).flat_map(|element| (element as f64).to_ne_bytes()).collect()
    }

    fn doubles(memory: &[u8]) -> Vec<f64> {
        memory.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
    }

    #[test]
    fn a_column_becomes_a_buffer_and_a_buffer_a_column() {
        // 3 × 4 elements, and 4 more behind them.
        let mut memory = numbered(16);
        let array = View::buffer(0, 3, 4);
        let buffer = View::buffer(8 * 12, 3, 1);
        array.window(0, 2, 3, 1).copy(&mut memory, buffer).unwrap();
        assert_eq!(doubles(&memory)[12..], [2.0, 6.0, 10.0, 15.0]);
        buffer.copy(&mut memory, array.window(0, 3, 3, 1)).unwrap();
        let expected = [0.0, 1.0, 2.0, 2.0, 4.0, 5.0, 6.0, 6.0, 8.0, 9.0, 10.0, 10.0];
        assert_eq!(doubles(&memory)[..12], expected);
        array.window(1, 1, 1, 3).copy(&mut memory, buffer.transposed()).unwrap();
        assert_eq!(doubles(&memory)[12..], [5.0, 6.0, 6.0, 15.0]);
    }

    #[test]
    fn a_transpose_has_each_element_at_its_place_whatever_the_sides() {
        for (rows, columns) in [(1, 1), (1, 40), (16, 16), (17, 33), (48, 5), (0, 3)] {
            let elements = rows * columns;
            // At an offset that no double is aligned to.
            let mut memory = [&[0; 3][..], &numbered(2 * elements)].concat();
            let from = View::buffer(3, rows, columns);
            let into = View::buffer(3 + 8 * elements, columns, rows);
            from.copy(&mut memory, into.transposed()).unwrap();
            let transposed = doubles(&memory[3 + 8 * elements..]);
            for (row, column) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
                assert_eq!(transposed[column * rows + row], (row * columns + column) as f64);
            }
            assert_eq!(memory[3..3 + 8 * elements], numbered(elements));
        }
    }

    #[test]
    fn views_that_do_not_belong_together_are_not_copied() {
        let before = numbered(8);
        let fails = |from: View, into: View| {
            let mut memory = before.clone();
            let error = from.copy(&mut memory, into).unwrap_err();
            assert_eq!(memory, before);
            error
        };
        let row = View::buffer(0, 1, 4);
        let other = View::buffer(32, 4, 1);
        assert!(matches!(fails(row, other), CommError::Shapes { from: (1, 4), into: (4, 1) }));
        assert!(matches!(fails(row, View::buffer(24, 1, 4)), CommError::Overlap { .. }));
        let huge = View { row_stride: usize::MAX, ..View::buffer(0, 3, 1) };
        let into = View::buffer(32, 3, 1);
        for (from, into) in [(huge, into), (into, huge), (View::buffer(48, 3, 1), into)] {
            assert!(matches!(fails(from, into), CommError::NotInMemory { .. }));
        }
        // Nothing is nowhere.
        View::buffer(64, 0, 4).copy(&mut before.clone(), View::buffer(0, 0, 4)).unwrap();
    }
}

//! How a matrix is divided over a mesh of ranks.

use super::mesh::{NoMesh, ProcessorMesh};
use bandgap_comm::Rank;
use serde::{Deserialize, Serialize};

use super::Block;
use crate::{AtSize, DOUBLE, MOST_BYTES, Refused};

/// A matrix of N × N doubles in blocks of N/p × N/q over a mesh of p × q ranks.
/// *Source*: CoMet, section 3.4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// The ranks (p × q).
    pub mesh: ProcessorMesh,
    /// Rows and columns of the matrix (N).
    pub dimension: usize,
}

impl Matrix {
    /// Of the dimension of a point, over its mesh. Where its ranks make none by themselves, it is of
    /// no ranks, and refused by [`Matrix::check`].
    pub fn at(point: &AtSize) -> Self {
        let mesh = match point.mesh {
            Some([rows, columns]) => ProcessorMesh::new(rows, columns),
            None => ProcessorMesh::for_ranks(point.ranks).unwrap_or(ProcessorMesh::NONE),
        };
        Self { mesh, dimension: point.size }
    }

    /// Whether `size` ranks make its mesh, and it divides over them.
    ///
    /// # Errors
    /// They do not, it does not, or a block is too large; the error says what would do.
    pub fn check(self, size: usize) -> Result<(), Refused> {
        let Self { mesh, dimension } = self;
        Refused::unless(mesh.is_of(size), || no_mesh(mesh, size))?;
        let step = mesh.least_dimension();
        Refused::unless(dimension > 0 && dimension.is_multiple_of(step), || {
            let below = Some(dimension / step * step).filter(|below| *below > 0);
            let above = (dimension / step).saturating_add(1).saturating_mul(step);
            let near = below.map_or(String::new(), |below| format!("{below} or "));
            format!(
                "a matrix of dimension {dimension} does not divide into equal blocks over a mesh of \
                 {mesh}; one of {near}{above} does"
            )
        })?;
        Refused::unless(self.fits_a_rank(), || {
            let most = self.most();
            format!(
                "a matrix of dimension {dimension} over a mesh of {mesh} is too large: a rank's block \
                 with its guard ring may have {} GiB, which one of {most} has at most",
                MOST_BYTES >> 30
            )
        })
    }

    /// Whether the block of a rank with its guard ring is no longer than a message may be.
    fn fits_a_rank(self) -> bool {
        let Self { mesh, dimension } = self;
        let guarded = |side: usize| (dimension / side).checked_add(2);
        let elements =
            guarded(mesh.rows).zip(guarded(mesh.columns)).and_then(|(r, c)| r.checked_mul(c));
        elements.is_some_and(|elements| elements <= MOST_BYTES / DOUBLE)
    }

    /// The greatest dimension over its mesh of which that is true.
    fn most(self) -> usize {
        let step = self.mesh.least_dimension();
        let fits = |of: usize| Self { dimension: of * step, ..self }.fits_a_rank();
        let (mut fit, mut unfit) = (0, self.dimension / step);
        while unfit - fit > 1 {
            let middle = fit + (unfit - fit) / 2;
            if fits(middle) { fit = middle } else { unfit = middle }
        }
        fit * step
    }

    /// The block of a rank.
    pub fn block(self, rank: Rank) -> Block {
        let Self { mesh, dimension } = self;
        let (rows, columns) = (dimension / mesh.rows, dimension / mesh.columns);
        let (row, column) = mesh.position(rank);
        Block { rank, dimension, first: (row * rows, column * columns), rows, columns }
    }
}

/// Why `size` ranks are not this mesh.
fn no_mesh(mesh: ProcessorMesh, size: usize) -> String {
    match ProcessorMesh::for_ranks(size) {
        Err(NoMesh { below, above, .. }) if mesh == ProcessorMesh::NONE => {
            let below = below.map_or(String::new(), |below| format!("{below} or "));
            format!(
                "{size} ranks make no mesh that is square or twice as long as wide; take \
                 {below}{above} ranks, or give the rows and columns of the mesh, as in 3x2 of 6 ranks"
            )
        }
        _ => format!(
            "{size} ranks are no mesh of {mesh} in {:?} order; rows times columns must be the ranks, \
             and powers of two in Gray order",
            mesh.order
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize, dimension: usize) -> Matrix {
        Matrix { mesh: ProcessorMesh::new(rows, columns), dimension }
    }

    #[test]
    fn blocks_cover_the_matrix_and_do_not_overlap() {
        for (rows, columns, dimension) in [(1, 1, 5), (2, 2, 6), (3, 2, 12), (4, 2, 8), (1, 4, 4)] {
            let matrix = matrix(rows, columns, dimension);
            assert_eq!(matrix.check(rows * columns), Ok(()));
            let mut owners = vec![0; dimension * dimension];
            for block in (0..rows * columns).map(|rank| matrix.block(rank)) {
                for row in block.first.0..block.first.0 + block.rows {
                    for column in block.first.1..block.first.1 + block.columns {
                        owners[row * dimension + column] += 1;
                    }
                }
            }
            assert!(owners.iter().all(|owners| *owners == 1));
        }
    }

    #[test]
    fn what_does_not_divide_is_refused_with_what_does() {
        let why = |matrix: Matrix, size| matrix.check(size).unwrap_err().to_string();
        // Multiples of 6 divide by 3 and by 2.
        let text = why(matrix(3, 2, 10), 6);
        assert!(
            text.contains("dimension 10") && text.contains("3x2; one of 6 or 12 does"),
            "{text}"
        );
        assert!(why(matrix(4, 2, 3), 8).contains("one of 4 does"));
        assert!(why(matrix(4, 2, 0), 8).contains("one of 4 does"));
        assert!(why(matrix(3, 2, 12), 8).contains("8 ranks are no mesh of 3x2"));
        let text = why(Matrix::at(&AtSize::of(12, 1, 6)), 6);
        assert!(
            text.contains("6 ranks make no mesh") && text.contains("take 4 or 8 ranks"),
            "{text}"
        );
        let given = AtSize { mesh: Some([2, 3]), ..AtSize::of(12, 1, 6) };
        assert_eq!(Matrix::at(&given).check(6), Ok(()));
        // 8192² blocks have 2²⁶ elements and 2³⁰ bytes would need 2²⁷.
        assert_eq!(matrix(1, 1, 8192).check(1), Ok(()));
        for dimension in [16_384, 1 << 40, usize::MAX] {
            // (N + 2)² ≤ 2²⁷ up to N = 11 583.
            let text = why(matrix(1, 1, dimension), 1);
            assert!(text.contains("may have 1 GiB, which one of 11583 has at most"), "{text}");
        }
        assert_eq!(matrix(1, 1, 11_583).check(1), Ok(()));
    }
}

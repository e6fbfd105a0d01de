//! Division of a matrix over a mesh of ranks.

use super::mesh::{NoMesh, ProcessorMesh};
use bandgap_comm::Rank;
use serde::{Deserialize, Serialize};

use super::Block;
use crate::{AtSize, DOUBLE, MOST_BYTES, Refused};

/// A matrix of N × N doubles, in blocks of N/p × N/q over a mesh of p × q ranks.
/// *Source*: CoMet, section 3.4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// Mesh of ranks (p × q).
    pub mesh: ProcessorMesh,
    /// Rows and columns of the matrix (N).
    pub dimension: usize,
}

impl Matrix {
    /// The matrix at a point, over the point's mesh, or else the usual mesh for the number of
    /// ranks. If there is none, the mesh is empty, and [`Matrix::check`] refuses the matrix.
    pub fn at(point: &AtSize) -> Self {
        let mesh = match point.mesh {
            Some([rows, columns]) => ProcessorMesh::new(rows, columns),
            None => ProcessorMesh::for_ranks(point.ranks).unwrap_or(ProcessorMesh::NONE),
        };
        Self { mesh, dimension: point.size }
    }

    /// Checks that `size` ranks form the mesh, and that the matrix divides into blocks over it.
    ///
    /// # Errors
    /// They do not, it does not, or a block is too large; the error says which values would be
    /// valid.
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
                 {mesh}; use {near}{above}"
            )
        })?;
        Refused::unless(self.fits_a_rank(), || {
            let most = self.most();
            format!(
                "a matrix of dimension {dimension} over a mesh of {mesh} is too large: with its \
                 guard ring, a rank's block exceeds {} GiB; use a dimension of at most {most}",
                MOST_BYTES >> 30
            )
        })
    }

    /// Whether a rank's block with its guard ring is no longer than the longest message.
    fn fits_a_rank(self) -> bool {
        let Self { mesh, dimension } = self;
        let guarded = |side: usize| (dimension / side).checked_add(2);
        let elements =
            guarded(mesh.rows).zip(guarded(mesh.columns)).and_then(|(r, c)| r.checked_mul(c));
        elements.is_some_and(|elements| elements <= MOST_BYTES / DOUBLE)
    }

    /// Largest dimension over this mesh at which a block still fits.
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

/// Why `size` ranks do not form this mesh.
fn no_mesh(mesh: ProcessorMesh, size: usize) -> String {
    match ProcessorMesh::for_ranks(size) {
        Err(NoMesh { below, above, .. }) if mesh == ProcessorMesh::NONE => {
            let below = below.map_or(String::new(), |below| format!("{below} or "));
            format!(
                "{size} ranks form no mesh: {size} is neither a square nor twice a square; use \
                 {below}{above} ranks, or give the rows and columns of the mesh, e.g. 3x2"
            )
        }
        _ => format!(
            "{size} ranks do not form a mesh of {mesh} in {:?} order; rows times columns must be \
             the number of ranks, and both powers of two in Gray order",
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
        assert!(text.contains("3x2") && text.contains("6 or 12"), "{text}");
        assert!(why(matrix(4, 2, 3), 8).ends_with("4"));
        assert!(why(matrix(4, 2, 0), 8).ends_with("4"));
        let text = why(matrix(3, 2, 12), 8);
        assert!(text.contains("8 ranks") && text.contains("3x2"), "{text}");
        let text = why(Matrix::at(&AtSize::of(12, 1, 6)), 6);
        assert!(text.contains("6 ranks") && text.contains("4 or 8"), "{text}");
        let given = AtSize { mesh: Some([2, 3]), ..AtSize::of(12, 1, 6) };
        assert_eq!(Matrix::at(&given).check(6), Ok(()));
        // 8192² blocks have 2²⁶ elements and 2³⁰ bytes would need 2²⁷.
        assert_eq!(matrix(1, 1, 8192).check(1), Ok(()));
        for dimension in [16_384, 1 << 40, usize::MAX] {
            // (N + 2)² ≤ 2²⁷ up to N = 11 583.
            let text = why(matrix(1, 1, dimension), 1);
            assert!(text.contains("1 GiB") && text.contains("11583"), "{text}");
        }
        assert_eq!(matrix(1, 1, 11_583).check(1), Ok(()));
    }
}

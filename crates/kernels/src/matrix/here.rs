//! Where a rank is in the mesh of a matrix.

use bandgap_comm::Rank;

use super::{Block, Matrix, Side};
use crate::{Expects, Placed};

/// A rank's block, and its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Here {
    /// The matrix.
    pub matrix: Matrix,
    /// The rank's block.
    pub block: Block,
    /// Row and column of the rank in the mesh.
    pub position: (usize, usize),
    /// In the order of [`Side::ALL`].
    neighbours: [Rank; 4],
}

impl Here {
    /// Of a rank of the mesh.
    pub fn new(matrix: Matrix, rank: Rank) -> Self {
        let mesh = matrix.mesh;
        let neighbours = Side::ALL.map(|side| mesh.neighbour(rank, side));
        Self { matrix, block: matrix.block(rank), position: mesh.position(rank), neighbours }
    }

    /// The rank.
    #[inline(always)]
    pub fn rank(&self) -> Rank {
        self.block.rank
    }

    /// The neighbour on a side; the rank itself where the mesh is one rank wide.
    #[inline(always)]
    pub fn neighbour(&self, side: Side) -> Rank {
        self.neighbours[side.index()]
    }

    /// Before and after an operation, `placed` lies there.
    pub(crate) fn keep(&self, expects: &mut Expects, placed: Placed) {
        expects.fills.push(placed);
        self.arrive(expects, self.rank(), placed);
    }

    /// After an operation, `placed` has come from `peer`: by a message, unless that is the rank
    /// itself.
    pub(crate) fn arrive(&self, expects: &mut Expects, peer: Rank, placed: Placed) {
        let messages = u64::from(peer != self.rank());
        expects.arrive_by(messages, placed.part, placed.content);
    }
}

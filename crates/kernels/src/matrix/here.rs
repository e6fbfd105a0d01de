//! A rank's position in the mesh of a matrix.

use bandgap_comm::Rank;

use super::{Block, Edge, Matrix};
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
    /// Neighbours, in the order of [`Edge::ALL`].
    neighbours: [Rank; 4],
}

impl Here {
    /// Finds the block and the neighbours of `rank`.
    pub fn new(matrix: Matrix, rank: Rank) -> Self {
        let mesh = matrix.mesh;
        let neighbours = Edge::ALL.map(|side| mesh.neighbour(rank, side));
        Self { matrix, block: matrix.block(rank), position: mesh.position(rank), neighbours }
    }

    /// The rank.
    #[inline(always)]
    pub fn rank(&self) -> Rank {
        self.block.rank
    }

    /// The neighbour on a side; the rank itself if the mesh is one rank wide in that direction.
    #[inline(always)]
    pub fn neighbour(&self, side: Edge) -> Rank {
        self.neighbours[side.index()]
    }

    /// Expects `placed` in memory before and after an operation.
    pub(crate) fn keep(&self, expects: &mut Expects, placed: Placed) {
        expects.fills.push(placed);
        self.arrive(expects, self.rank(), placed);
    }

    /// Expects `placed` from `peer` after an operation: by a message, unless `peer` is the rank
    /// itself.
    pub(crate) fn arrive(&self, expects: &mut Expects, peer: Rank, placed: Placed) {
        let messages = u64::from(peer != self.rank());
        expects.arrive_by(messages, placed.part, placed.content);
    }
}

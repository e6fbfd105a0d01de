//! A guard ring that is filled from the neighbours.

use bandgap_comm::{Comm, Rank, Result, View};

use crate::{
    Block, Content, Edge, Expects, Here, Matrix, MatrixKernel, MatrixProgram, Placed, Places,
};

/// M times every rank fills the guard ring of its block: each side with the neighbour's elements at
/// its edge there. The rank assembles the four sides of its own block one after the other, sends
/// each as soon as it is assembled, and then receives four. The corners stay as they are. On a mesh
/// one rank wide, the rank is its own neighbour and copies.
///
/// An operation moves 4 messages for each rank: 2 of N/q and 2 of N/p doubles.
/// *Source*: CoMet, sections 3.3.8 and 4.3, figures 3.11 and 4.3.
pub type UpdateGuard = MatrixKernel<Guard>;

/// The program of [`UpdateGuard`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard;

impl MatrixProgram for Guard {
    const NAME: &'static str = "update_guard";
    // The block, which is sent, and the guard ring around it are one array.
    const SENDS: bool = false;

    fn moves(matrix: Matrix) -> u64 {
        // 2 N/p elements for each of p q ranks if there are several columns; rows likewise.
        let Matrix { mesh, dimension } = matrix;
        let sides = [mesh.rows, mesh.columns].into_iter().filter(|side| *side > 1);
        2 * dimension as u64 * sides.sum::<usize>() as u64
    }

    fn scratch(here: &Here) -> usize {
        2 * Sides::bytes(&here.block)
    }

    fn partner(here: &Here) -> Rank {
        let beside = here.neighbour(Edge::Succ);
        if beside == here.rank() { here.neighbour(Edge::Bottom) } else { beside }
    }

    fn expects(here: &Here, places: &Places, message: u64, expects: &mut Expects) {
        let (block, rank) = (here.block, here.rank());
        let local = block.local(places.incoming(message));
        here.keep(expects, block.in_view(local, local.block(), message));
        for corner in local.corners() {
            let content = Content::Sent { source: rank, to: rank, message };
            here.keep(expects, Placed { part: corner.part(), content, messages: 0 });
        }
        for side in Edge::ALL {
            let peer = here.neighbour(side);
            let guard = block.in_view(local, local.guard(side), message);
            here.arrive(expects, peer, guard.from(peer));
        }
    }

    #[inline(always)]
    fn once<C: Comm>(comm: &mut C, here: &Here, places: &Places, message: u64) -> Result<()> {
        let local = here.block.local(places.incoming(message));
        let leaving = Sides { block: here.block, at: places.scratch().at };
        let arriving = Sides { at: leaving.at + Sides::bytes(&here.block), ..leaving };
        let sends = Edge::ALL.map(|side| {
            let (edge, buffer) = (local.edge(side), leaving.buffer(side));
            comm.copy_elements(edge, buffer)?;
            match here.neighbour(side) {
                // What leaves on one side comes back on the other.
                peer if peer == here.rank() => {
                    comm.copy_elements(buffer, arriving.buffer(side.opposite()))?;
                    Ok(None)
                }
                peer => comm.isend(peer, tag(side), buffer.part()).map(Some),
            }
        });
        let receives = Edge::ALL.map(|side| match here.neighbour(side) {
            peer if peer == here.rank() => Ok(None),
            // The neighbour sent it from its opposite side.
            peer => comm.irecv(peer, tag(side.opposite()), arriving.buffer(side).part()).map(Some),
        });
        for pending in sends.into_iter().chain(receives) {
            if let Some(pending) = pending? {
                comm.wait(pending)?;
            }
        }
        Edge::ALL
            .iter()
            .try_for_each(|&side| comm.copy_elements(arriving.buffer(side), local.guard(side)))
    }
}

/// Tag of what leaves on a side. If two neighbours are the same rank, tags tell their messages
/// apart.
#[inline(always)]
fn tag(side: Edge) -> u32 {
    1 + side as u32
}

/// Consecutive buffers for the sides of a block.
#[derive(Clone, Copy)]
struct Sides {
    block: Block,
    at: usize,
}

impl Sides {
    #[inline(always)]
    fn bytes(block: &Block) -> usize {
        2 * (block.rows + block.columns) * size_of::<f64>()
    }

    #[inline(always)]
    fn buffer(self, side: Edge) -> View {
        let Block { rows, columns, .. } = self.block;
        let (before, rows, columns) = match side {
            Edge::Top => (0, 1, columns),
            Edge::Bottom => (columns, 1, columns),
            Edge::Succ => (2 * columns, rows, 1),
            Edge::Pred => (2 * columns + rows, rows, 1),
        };
        View::buffer(self.at + before * size_of::<f64>(), rows, columns)
    }
}

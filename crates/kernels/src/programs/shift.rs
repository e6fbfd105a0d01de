//! A matrix shifted by a block: what its two directions share.

use std::fmt;

use bandgap_comm::{Comm, CommError, Rank};

use crate::{DOUBLE, Expects, Here, Matrix, MatrixProgram, Places, Side};

/// M times every rank sends its whole block, with the guard ring, to the neighbour on one side, and
/// receives that of the neighbour on the other. On a mesh one rank wide the rank copies.
///
/// The block that comes has a place of its own; the thesis receives it into the array that was
/// sent. There a rank could not receive before its array has left, and what the next operation sends
/// would depend on all before it.
///
/// An operation moves one message of a rank, of (N/p + 2) · (N/q + 2) doubles.
/// *Source*: CoMet, sections 3.3.9 and 4.3, figure 3.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift<D>(D);

/// Where a matrix is shifted to.
pub trait Direction: Copy + fmt::Debug + PartialEq + Eq + 'static {
    /// The kernel's name.
    const NAME: &'static str;
    /// On which side the block leaves.
    const TO: Side;
}

const TAG: u32 = 1;

impl<D: Direction> MatrixProgram for Shift<D> {
    const NAME: &'static str = D::NAME;

    fn moves(matrix: Matrix) -> u64 {
        let here = Here::new(matrix, 0);
        let ranks = if here.neighbour(D::TO) == 0 { 0 } else { matrix.mesh.size() };
        (ranks * here.block.bytes() / DOUBLE) as u64
    }

    fn partner(here: &Here) -> Rank {
        here.neighbour(D::TO)
    }

    fn expects(here: &Here, places: &Places, message: u64, expects: &mut Expects) {
        let from = here.neighbour(D::TO.opposite());
        let whole = |rank, part| {
            let block = here.matrix.block(rank);
            let local = block.local(part);
            block.in_view(local, local.array, message)
        };
        expects.fills.push(whole(here.rank(), places.outgoing(message)));
        here.arrive(expects, from, whole(from, places.incoming(message)));
    }

    #[inline(always)]
    fn once<C: Comm>(
        comm: &mut C,
        here: &Here,
        places: &Places,
        message: u64,
    ) -> Result<(), CommError> {
        let [to, from] = [D::TO, D::TO.opposite()].map(|side| here.neighbour(side));
        let (own, shifted) = (places.outgoing(message), places.incoming(message));
        if to == here.rank() {
            return comm.copy(own, shifted);
        }
        let send = comm.isend(to, TAG, own)?;
        let receive = comm.irecv(from, TAG, shifted)?;
        comm.wait(send)?;
        comm.wait(receive)
    }
}

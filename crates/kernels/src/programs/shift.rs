//! A matrix shifted by one block, up or to the right.

use bandgap_comm::{Comm, Rank, Result};

use crate::{DOUBLE, Edge, Expects, Here, Matrix, MatrixKernel, MatrixProgram, Places};

/// M times every rank sends its whole block, with the guard ring, to the neighbour on one side, and
/// receives that of the neighbour on the other. On a mesh one rank wide the rank copies it.
///
/// The block is received into a separate array. CoMet receives it into the array that was sent: a
/// rank could not receive before its array has left, and what the next operation sends would depend
/// on all earlier ones.
///
/// An operation moves one message for each rank, of (N/p + 2) · (N/q + 2) doubles.
/// *Source*: CoMet, sections 3.3.9 and 4.3, figure 3.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift<const EAST: bool>;

/// `Shift` up by N/p rows.
pub type ShiftNorth = MatrixKernel<Shift<false>>;

/// `Shift` to the right by N/q columns.
pub type ShiftEast = MatrixKernel<Shift<true>>;

impl<const EAST: bool> Shift<EAST> {
    /// The side on which the block leaves.
    const TO: Edge = if EAST { Edge::Succ } else { Edge::Top };
}

const TAG: u32 = 1;

impl<const EAST: bool> MatrixProgram for Shift<EAST> {
    const NAME: &'static str = if EAST { "shift_east" } else { "shift_north" };

    fn moves(matrix: Matrix) -> u64 {
        let here = Here::new(matrix, 0);
        let ranks = if here.neighbour(Self::TO) == 0 { 0 } else { matrix.mesh.size() };
        (ranks * here.block.bytes() / DOUBLE) as u64
    }

    fn partner(here: &Here) -> Rank {
        here.neighbour(Self::TO)
    }

    fn expects(here: &Here, places: &Places, message: u64, expects: &mut Expects) {
        let from = here.neighbour(Self::TO.opposite());
        let whole = |rank, part| {
            let block = here.matrix.block(rank);
            let local = block.local(part);
            block.in_view(local, local.array, message)
        };
        expects.fills.push(whole(here.rank(), places.outgoing(message)));
        here.arrive(expects, from, whole(from, places.incoming(message)));
    }

    #[inline(always)]
    fn once<C: Comm>(comm: &mut C, here: &Here, places: &Places, message: u64) -> Result<()> {
        let [to, from] = [Self::TO, Self::TO.opposite()].map(|side| here.neighbour(side));
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

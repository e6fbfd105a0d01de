//! A row or a column of a matrix given to all: what the two share.

use std::fmt;

use bandgap_comm::{Comm, CommError, Rank, View};

use crate::{Expects, Here, Local, Matrix, MatrixProgram, Places, Side};

/// M times a line of a matrix, which is a row or a column of it, is given to all ranks: those that
/// have a part of it send that part to all others which have elements of the same columns (of the
/// same rows, if the line is a column), and these put it where it lies in their own blocks.
///
/// M times there and back: the first line is of the first block, and goes to the next one first and to
/// the last one last; the second is of the last block, and goes the other way. So each begins when the
/// one before has come to its last rank, and the first rank sees both ends of 2M of them.
/// *Assumes* that the rank which is sent to last also has the line last.
///
/// The line comes into an array of its own; the thesis receives it into the block, where it would
/// replace the line that a later operation sends.
///
/// An operation moves N doubles to each other row (or column) of the mesh.
/// *Source*: CoMet, sections 3.3.11 and 4.3, figures 3.14 and 4.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineBroadcast<L>(L);

/// A row or a column.
pub trait Line: Copy + fmt::Debug + PartialEq + Eq + 'static {
    /// The kernel's name.
    const NAME: &'static str;
    /// The side on which a rank has the next one that needs the same part of the line.
    const NEXT: Side;
    /// Blocks across lines, and lines in each.
    fn across(here: &Here) -> (usize, usize);
    /// Which of these blocks the rank here has.
    fn place(here: &Here) -> usize;
    /// The rank that has block `place` of those, and is beside the one here.
    fn rank(here: &Here, place: usize) -> Rank;
    /// Where line number `index` of a block is.
    fn view(here: &Here, local: &Local, index: usize) -> View;
    /// The buffer at this offset in which a part of a line is assembled; `None` if it need not be.
    fn buffer(here: &Here, at: usize) -> Option<View>;
}

/// A part of a line.
const LINE: u32 = 1;

/// Which block has the line of an operation, and its number there.
#[inline(always)]
fn line<L: Line>(here: &Here, message: u64) -> (usize, usize) {
    let (blocks, lines) = L::across(here);
    let block = if is_back(message) { blocks - 1 } else { 0 };
    (block, (message / 2 % lines as u64) as usize)
}

/// Whether it goes from the last block to the first.
#[inline(always)]
fn is_back(message: u64) -> bool {
    message % 2 == 1
}

impl<L: Line> MatrixProgram for LineBroadcast<L> {
    const NAME: &'static str = L::NAME;
    const PARTS: u32 = 2;

    fn moves(matrix: Matrix) -> u64 {
        let others = L::across(&Here::new(matrix, 0)).0 - 1;
        (matrix.dimension * others) as u64
    }

    fn scratch(here: &Here) -> usize {
        L::buffer(here, 0).map_or(0, |buffer| buffer.part().len)
    }

    fn partner(here: &Here) -> Rank {
        here.neighbour(L::NEXT)
    }

    fn expects(here: &Here, places: &Places, message: u64, expects: &mut Expects) {
        let (sender, index) = line::<L>(here, message);
        let source = L::rank(here, sender);
        if sender != L::place(here) {
            let local = here.block.local(places.incoming(message));
            let its = here.matrix.block(source);
            let arrives = its.in_view(local, L::view(here, &local, index), message);
            return here.arrive(expects, source, arrives);
        }
        let local = here.block.local(places.outgoing(message));
        expects.fills.push(here.block.in_view(local, local.block(), message));
    }

    #[inline(always)]
    fn once<C: Comm>(
        comm: &mut C,
        here: &Here,
        places: &Places,
        message: u64,
    ) -> Result<(), CommError> {
        let (sender, index) = line::<L>(here, message);
        let buffer = L::buffer(here, places.scratch().at);
        if sender != L::place(here) {
            let source = L::rank(here, sender);
            let line = L::view(here, &here.block.local(places.incoming(message)), index);
            comm.recv(source, LINE, buffer.unwrap_or(line).part())?;
            return buffer.map_or(Ok(()), |buffer| comm.copy_elements(buffer, line));
        }
        let line = L::view(here, &here.block.local(places.outgoing(message)), index);
        if let Some(buffer) = buffer {
            comm.copy_elements(line, buffer)?;
        }
        for distance in 1..L::across(here).0 {
            let place = if is_back(message) { sender - distance } else { distance };
            comm.send(L::rank(here, place), LINE, buffer.unwrap_or(line).part())?;
        }
        Ok(())
    }
}

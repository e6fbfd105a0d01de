//! Broadcast of long messages: each rank gets a block, and all exchange their blocks.

use super::super::allgather::{doubling, ring};
use super::super::around::Around;
use super::super::blocks::Blocks;
use super::super::tags::BROADCAST;
use super::from_root::FromRoot;
use crate::{Comm, CommError, Part, Rank};

/// One block for each rank, dealt out down a binomial tree: a rank gets the blocks of all ranks
/// below it. Then an allgather: by recursive doubling where the ranks are a power of two, else by a
/// ring. So a byte leaves the root about once, not once for each level of a tree.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on broadcast, after Barnett, Gupta, Payne, Shuler, van
/// de Geijn, Watts, "Interprocessor collective communication library (InterCom)", 1994.
#[inline]
pub(super) fn scatter_allgather<C: Comm>(
    comm: &mut C,
    from: FromRoot,
    part: Part,
) -> Result<(), CommError> {
    let size = from.size;
    let relative = from.number(comm.rank());
    let blocks = Blocks::of(part, 1, size);
    let mut reach = 1;
    while reach < size && relative & reach == 0 {
        reach *= 2;
    }
    if relative != 0 {
        let dealt = blocks.all(relative..size.min(relative + reach));
        comm.recv(from.rank(relative - reach), BROADCAST, dealt)?;
    }
    let mut end = size.min(relative + reach);
    while reach > 1 {
        reach /= 2;
        if relative + reach < end {
            let dealt = blocks.all(relative + reach..end);
            comm.send(from.rank(relative + reach), BROADCAST, dealt)?;
            end = relative + reach;
        }
    }
    if size.is_power_of_two() {
        doubling(comm, BROADCAST, blocks, (relative, size), |index| from.rank(index))
    } else {
        let (next, last) = (from.rank(relative + 1), from.rank(relative + size - 1));
        ring(comm, BROADCAST, &[Around { next, last, own: relative, blocks }])
    }
}

/// Its blocks, unless it is the root; and one message for each step of the allgather.
pub(super) fn receives(rank: Rank, size: usize, root: Rank) -> u64 {
    let steps = if size.is_power_of_two() { size.ilog2() as usize } else { size - 1 };
    u64::from(rank != root) + steps as u64
}

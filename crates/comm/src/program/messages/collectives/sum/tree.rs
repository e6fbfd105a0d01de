//! Sum up a tree and down again.

use super::super::broadcast::{FromRoot, binomial};
use super::super::tags::SUM;
use crate::{Comm, CommError, Part, Rank};

/// Up a binomial tree: a rank whose number has i zeros at its end adds what the ranks 1, 2, 4, …,
/// 2ⁱ⁻¹ after it have added up, and sends that to the rank 2ⁱ before it. Rank 0 has the sum at last,
/// and broadcasts it.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on reduce.
#[inline]
pub(super) fn tree<C: Comm>(comm: &mut C, into: Part, scratch: Part) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let mut reach = 1;
    while reach < size {
        if rank & reach != 0 {
            comm.send(rank - reach, SUM, into)?;
            break;
        }
        if rank + reach < size {
            comm.recv(rank + reach, SUM, scratch)?;
            comm.add(into, scratch)?;
        }
        reach *= 2;
    }
    binomial(comm, FromRoot::up(0, comm.size()), into)
}

/// One message from each rank right below it, and the sum, unless it is rank 0.
pub(super) fn receives(rank: Rank, size: usize) -> u64 {
    let reaches = (0..usize::BITS).map(|bit| 1 << bit).take_while(|&reach| reach < size);
    let below = reaches.take_while(|reach| rank & reach == 0).filter(|reach| rank + reach < size);
    below.count() as u64 + u64::from(rank != 0)
}

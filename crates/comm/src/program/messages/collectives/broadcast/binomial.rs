//! Broadcast down a binomial tree.

use super::super::tags::BROADCAST;
use crate::ring::{after, before};
use crate::{Comm, CommError, Part, Rank};

/// A rank whose distance from the root has i zeros at its end gets the bytes from the rank 2ⁱ before
/// it, and sends them on to those 2ⁱ⁻¹, 2ⁱ⁻², …, 1 after it. The farthest comes first, as it has the
/// most ranks to serve.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on broadcast.
#[inline]
pub(in super::super) fn binomial<C: Comm>(
    comm: &mut C,
    root: Rank,
    part: Part,
) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let relative = before(rank, root, size);
    let mut reach = 1;
    while reach < size && relative & reach == 0 {
        reach *= 2;
    }
    if relative != 0 {
        comm.recv(before(rank, reach, size), BROADCAST, part)?;
    }
    while reach > 1 {
        reach /= 2;
        if relative + reach < size {
            comm.send(after(rank, reach, size), BROADCAST, part)?;
        }
    }
    Ok(())
}

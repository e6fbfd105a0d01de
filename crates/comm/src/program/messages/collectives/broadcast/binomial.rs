//! Broadcast down a binomial tree.

use super::super::tags::BROADCAST;
use super::from_root::FromRoot;
use crate::{Comm, CommError, Part};

/// A rank whose distance from the root has i zeros at its end gets the bytes from the rank 2ⁱ before
/// it, and sends them on to those 2ⁱ⁻¹, 2ⁱ⁻², …, 1 after it. The farthest comes first, as it has the
/// most ranks to serve.
///
/// *Source*: Thakur, Rabenseifner, Gropp 2005, on broadcast.
#[inline]
pub(in super::super) fn binomial<C: Comm>(
    comm: &mut C,
    from: FromRoot,
    part: Part,
) -> Result<(), CommError> {
    let size = from.size;
    let relative = from.number(comm.rank());
    let mut reach = 1;
    while reach < size && relative & reach == 0 {
        reach *= 2;
    }
    if relative != 0 {
        comm.recv(from.rank(relative - reach), BROADCAST, part)?;
    }
    while reach > 1 {
        reach /= 2;
        if relative + reach < size {
            comm.send(from.rank(relative + reach), BROADCAST, part)?;
        }
    }
    Ok(())
}

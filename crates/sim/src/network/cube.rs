//! e-cube routes: bit by bit, the lowest first.

use crate::topology::{Hypercube, Topology};

/// One from each node for each bit.
pub(super) fn channels(cube: &Hypercube) -> usize {
    cube.size() * cube.dimensions() as usize
}

pub(super) fn route(cube: &Hypercube, from: usize, to: usize, mut tell: impl FnMut(usize)) {
    let mut node = from;
    while node != to {
        let bit = (node ^ to).trailing_zeros();
        tell(node * cube.dimensions() as usize + bit as usize);
        node ^= 1 << bit;
    }
}

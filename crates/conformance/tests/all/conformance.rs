//! Credits over the link between threads pass the suite, with room and without.

use crate::faulty::Faulty;
use crate::inproc::{self, InprocLink};
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_conformance::conforms;

/// Channels of so many frames under so many credits; of 256 calls so many are refused.
fn endpoints(
    size: usize,
    exposed: usize,
    (frames, credits, refused): (usize, u16, u8),
) -> Vec<Credited<Faulty<InprocLink>>> {
    let over = |link: InprocLink| {
        Credited::new(Faulty::new(link.exposing(exposed), size as u64, refused), credits)
    };
    inproc::links(size, frames).into_iter().map(over).collect()
}

conforms!(endpoint roomy(size, exposed) { endpoints(size, exposed, (256, DEFAULT_CREDITS, 0)) });
conforms!(
    /// Nearly every frame finds its channel full.
    endpoint tight(size, exposed) { endpoints(size, exposed, (1, 16, 0)) }
);
conforms!(
    /// One request at a time.
    endpoint single_credit(size, exposed) { endpoints(size, exposed, (2, 1, 0)) }
);
conforms!(endpoint faulty(size, exposed) { endpoints(size, exposed, (4, 8, 128)) });

//! Credits over the link between threads pass the suite, with room and without.

use bandgap_comm::inproc::{self, InprocLink};
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_conformance::{EXPOSED, Faulty, Harness};

/// Channels of so many frames under so many credits; of 256 calls so many are refused.
struct Inproc<const FRAMES: usize, const CREDITS: u16, const REFUSED: u8>;

impl<const FRAMES: usize, const CREDITS: u16, const REFUSED: u8> Harness
    for Inproc<FRAMES, CREDITS, REFUSED>
{
    type E = Credited<Faulty<InprocLink>>;

    fn endpoints(size: usize) -> Vec<Self::E> {
        let over = |link: InprocLink| {
            Credited::new(Faulty::new(link.exposing(EXPOSED), size as u64, REFUSED), CREDITS)
        };
        inproc::links(size, FRAMES).into_iter().map(over).collect()
    }
}

macro_rules! suites {
    ($($(#[$about:meta])* $name:ident: $harness:ty;)*) => {
        $(
            $(#[$about])*
            mod $name {
                use super::*;

                bandgap_conformance::conformance!($harness);
                bandgap_conformance::bulk_conformance!($harness);
            }
        )*
    };
}

suites! {
    roomy: Inproc<256, DEFAULT_CREDITS, 0>;
    /// Nearly every frame finds its channel full.
    tight: Inproc<1, 16, 0>;
    /// One request at a time.
    single_credit: Inproc<2, 1, 0>;
    faulty: Inproc<4, 8, 128>;
}

//! Credits over the link between threads pass the suite, with room and without.

use bandgap_comm::inproc::{self, InprocLink};
use bandgap_comm::{Credited, DEFAULT_CREDITS};
use bandgap_conformance::{EXPOSED, Faulty, Harness};

mod roomy {
    use super::*;

    struct Roomy;

    impl Harness for Roomy {
        type E = Credited<InprocLink>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            let links = inproc::links(size, 256);
            links
                .into_iter()
                .map(|link| Credited::new(link.exposing(EXPOSED), DEFAULT_CREDITS))
                .collect()
        }
    }

    bandgap_conformance::conformance!(Roomy);
    bandgap_conformance::bulk_conformance!(Roomy);
}

mod tight {
    use super::*;

    /// Channels of one frame under many credits: nearly every frame finds its channel full.
    struct Tight;

    impl Harness for Tight {
        type E = Credited<InprocLink>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            let links = inproc::links(size, 1).into_iter();
            links.map(|link| Credited::new(link.exposing(EXPOSED), 16)).collect()
        }
    }

    bandgap_conformance::conformance!(Tight);
    bandgap_conformance::bulk_conformance!(Tight);
}

mod single_credit {
    use super::*;

    /// One request at a time.
    struct SingleCredit;

    impl Harness for SingleCredit {
        type E = Credited<InprocLink>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            let links = inproc::links(size, 2).into_iter();
            links.map(|link| Credited::new(link.exposing(EXPOSED), 1)).collect()
        }
    }

    bandgap_conformance::conformance!(SingleCredit);
    bandgap_conformance::bulk_conformance!(SingleCredit);
}

mod faulty {
    use super::*;

    /// Half of all calls are refused.
    struct Refusing;

    impl Harness for Refusing {
        type E = Credited<Faulty<InprocLink>>;

        fn endpoints(size: usize) -> Vec<Self::E> {
            let refusing = |link: InprocLink| {
                Credited::new(Faulty::new(link.exposing(EXPOSED), size as u64, 128), 8)
            };
            inproc::links(size, 4).into_iter().map(refusing).collect()
        }
    }

    bandgap_conformance::conformance!(Refusing);
    bandgap_conformance::bulk_conformance!(Refusing);
}

//! Message passing over the link between threads passes the suite, with room and without.

use bandgap_comm::conformance::Faulty;
use bandgap_comm::inproc::{self, InprocLink};
use bandgap_comm::passing::Tuning;
use bandgap_comm::passing::conformance::{Harness, Reluctant};
use bandgap_comm::{Credited, DEFAULT_CREDITS};

fn links(size: usize, frames: usize, exposed: usize) -> impl Iterator<Item = InprocLink> {
    inproc::links(size, frames).into_iter().map(move |link| link.exposing(exposed))
}

mod roomy {
    use super::*;

    struct Roomy;

    impl Harness for Roomy {
        type E = Credited<InprocLink>;

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            links(size, 256, exposed).map(|link| Credited::new(link, DEFAULT_CREDITS)).collect()
        }
    }

    bandgap_comm::passing_conformance!(Roomy);
}

mod tight {
    use super::*;

    /// Channels of one frame, one request at a time, and one short slot.
    struct Tight;

    impl Harness for Tight {
        type E = Credited<InprocLink>;
        const TUNING: Tuning = Tuning { eager: 100, chunk: 128, slots: 1 };

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            links(size, 1, exposed).map(|link| Credited::new(link, 1)).collect()
        }
    }

    bandgap_comm::passing_conformance!(Tight);
}

mod reluctant {
    use super::*;

    /// A third of all calls are refused, below the credits and above.
    struct Refusing;

    impl Harness for Refusing {
        type E = Reluctant<Credited<Faulty<InprocLink>>>;
        const TUNING: Tuning = Tuning { eager: 700, chunk: 1024, slots: 3 };

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            let refusing = |link| {
                let credited = Credited::new(Faulty::new(link, size as u64, 80), 8);
                Reluctant::new(credited, size as u64, 80)
            };
            links(size, 4, exposed).map(refusing).collect()
        }
    }

    bandgap_comm::passing_conformance!(Refusing);
}

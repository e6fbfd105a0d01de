//! The transport passes the suite, with rings of the usual length and of the shortest.

use bandgap_comm::conformance::Harness;
use bandgap_shm::{DEFAULT_SLOTS, MIN_SLOTS, Segment, ShmEndpoint};

fn endpoints(size: usize, slots: usize) -> Vec<ShmEndpoint> {
    let segment = Segment::create(size, slots).expect("shared memory");
    (0..size).map(|rank| ShmEndpoint::attach(&segment, rank, size).expect("a free rank")).collect()
}

mod usual {
    use super::*;

    struct Shm;

    impl Harness for Shm {
        type E = ShmEndpoint;
        const NOTICES_DEPARTURE: bool = false;

        fn endpoints(size: usize) -> Vec<ShmEndpoint> {
            super::endpoints(size, DEFAULT_SLOTS)
        }
    }

    bandgap_comm::conformance!(Shm);
}

mod shortest {
    use super::*;

    struct Shm;

    impl Harness for Shm {
        type E = ShmEndpoint;
        const NOTICES_DEPARTURE: bool = false;

        fn endpoints(size: usize) -> Vec<ShmEndpoint> {
            super::endpoints(size, MIN_SLOTS)
        }
    }

    bandgap_comm::conformance!(Shm);
}

//! The transport passes the suite, with rings of the usual length and of the shortest.

use bandgap_conformance::{EXPOSED, conforms};
use bandgap_shm::{DEFAULT_SLOTS, Exposed, MIN_SLOTS, Segment, ShmEndpoint};

fn endpoints(size: usize, slots: usize) -> Vec<ShmEndpoint> {
    let segment = Segment::create(size, slots).expect("shared memory");
    let memory = Exposed::create(size, EXPOSED).expect("shared memory");
    let attach = |rank| {
        let endpoint = ShmEndpoint::attach(&segment, rank, size).expect("a free rank");
        endpoint.exposing(memory.clone()).expect("memory of this run")
    };
    (0..size).map(attach).collect()
}

conforms!(usual(size) -> ShmEndpoint { endpoints(size, DEFAULT_SLOTS) } {
    const NOTICES_DEPARTURE: bool = false;
});
conforms!(shortest(size) -> ShmEndpoint { endpoints(size, MIN_SLOTS) } {
    const NOTICES_DEPARTURE: bool = false;
});

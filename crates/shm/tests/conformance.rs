//! The transport passes the suite, with rings of the usual length and of the shortest.

use bandgap_conformance::conforms;
use bandgap_shm::{DEFAULT_SLOTS, Exposed, MIN_SLOTS, Segment, ShmEndpoint};

fn endpoints(size: usize, exposed: usize, slots: usize) -> Vec<ShmEndpoint> {
    let segment = Segment::create(size, slots).expect("shared memory");
    let memory = Exposed::create(size, exposed).expect("shared memory");
    let attach = |rank| {
        let endpoint = ShmEndpoint::attach(&segment, rank, size).expect("a free rank");
        endpoint.exposing(memory.clone()).expect("memory of this run")
    };
    (0..size).map(attach).collect()
}

conforms!(endpoint usual(size, exposed) { endpoints(size, exposed, DEFAULT_SLOTS) } {
    notices_departure: false
});
conforms!(endpoint shortest(size, exposed) { endpoints(size, exposed, MIN_SLOTS) } {
    notices_departure: false
});

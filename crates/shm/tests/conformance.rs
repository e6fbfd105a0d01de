//! The transport passes the suite, and so do rings of the shortest length.

use bandgap_conformance::conforms;
use bandgap_shm::{Exposed, MIN_SLOTS, Segment, Shm, ShmEndpoint};

fn endpoints(size: usize, exposed: usize) -> Vec<ShmEndpoint> {
    let segment = Segment::create(size, MIN_SLOTS).expect("shared memory");
    let memory = Exposed::create(size, exposed).expect("shared memory");
    let attach = |rank| {
        let endpoint = ShmEndpoint::attach(&segment, rank, size).expect("a free rank");
        endpoint.exposing(memory.clone()).expect("memory of this run")
    };
    (0..size).map(attach).collect()
}

conforms!(transport usual: Shm { notices_departure: false });
conforms!(endpoint shortest(size, exposed) { endpoints(size, exposed) } {
    notices_departure: false
});

//! Message passing over the link between threads passes the suite, with room and without.

use std::time::Duration;

use crate::faulty::Faulty;
use crate::inproc::{self, InprocLink};
use bandgap_comm::passing::{Passing, Tuning};
use bandgap_comm::{
    AnyEndpoint, Credited, DEFAULT_CREDITS, DeadlineWatch, Endpoint, Part, Waiting,
};
use bandgap_conformance::Reluctant;
use bandgap_conformance::conforms;

fn links(size: usize, frames: usize, exposed: usize) -> impl Iterator<Item = InprocLink> {
    inproc::links(size, frames).into_iter().map(move |link| link.exposing(exposed))
}

conforms!(passing roomy(size, exposed) {
    links(size, 256, exposed).map(|link| Credited::new(link, DEFAULT_CREDITS)).collect()
});
conforms!(
    /// Channels of one frame, one request at a time, and one short slot.
    passing tight(size, exposed) {
        links(size, 1, exposed).map(|link| Credited::new(link, 1)).collect()
    } {
        tuning: TIGHT
    }
);
conforms!(
    /// A third of all calls are refused, below the credits and above.
    passing reluctant(size, exposed) {
        let refusing = |link| {
            let credited = Credited::new(Faulty::new(link, size as u64, 80), 8);
            Reluctant::new(credited, size as u64, 80)
        };
        links(size, 4, exposed).map(refusing).collect()
    } {
        tuning: Tuning { chunk: 1024, slots: 3, request: 200 }
    }
);

#[test]
fn whether_a_link_is_to_be_tended_is_known_above_it() {
    let link = || links(2, 1, 0).next().unwrap();
    assert!(!AnyEndpoint::of(Credited::new(link(), 1)).tended());
    let credited = Credited::new(Faulty::new(link(), 1, 0), 1);
    assert!(AnyEndpoint::of(Reluctant::new(credited, 1, 0)).tended());
}

const TIGHT: Tuning = Tuning { chunk: 128, slots: 1, request: 20 };

fn alone() -> Passing<Credited<InprocLink>, DeadlineWatch> {
    let link = links(2, 1, TIGHT.memory(2)).next().unwrap();
    let endpoint = Credited::new(link, 1);
    Passing::new(endpoint, 0, &TIGHT, Waiting::Yield, DeadlineWatch(Duration::ZERO)).unwrap()
}

#[test]
fn memory_keeps_its_bytes_when_it_grows_and_shrinks() {
    let mut rank = alone();
    assert_eq!(rank.memory(), []);
    rank.resize(2);
    rank.memory_mut().copy_from_slice(&[1, 2]);
    rank.resize(3);
    assert_eq!(rank.memory(), [1, 2, 0]);
    rank.resize(1);
    assert_eq!(rank.memory(), [1]);
}

#[test]
#[should_panic(expected = "memory must not change")]
fn memory_keeps_its_length_while_a_receive_is_posted() {
    let mut rank = alone();
    rank.resize(1);
    let _posted = rank.irecv(1, 0, Part::new(0, 1)).unwrap();
    rank.resize(2);
}

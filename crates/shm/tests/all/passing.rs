//! Message passing over shared memory passes the suite: with the usual rings and limits, and with
//! the shortest of both.

use std::time::Duration;

use bandgap_comm::passing::conformance::{Harness, Reluctant};
use bandgap_comm::passing::{HoldsMail, Mail, Passing, Tuning, add_handlers};
use bandgap_comm::{ActiveMessages, DeadlineWatch, Endpoint, Handlers, Part, Waiting};
use bandgap_shm::{DEFAULT_SLOTS, Exposed, MIN_SLOTS, Segment, ShmEndpoint};

fn endpoints(size: usize, slots: usize, exposed: usize) -> Vec<ShmEndpoint> {
    let segment = Segment::create(size, slots).expect("shared memory");
    let memory = Exposed::create(size, exposed.next_multiple_of(4096)).expect("shared memory");
    let endpoint = |rank| ShmEndpoint::attach(&segment, rank, size)?.exposing(memory.clone());
    (0..size).map(|rank| endpoint(rank).expect("a free rank")).collect()
}

mod usual {
    use super::*;

    struct Shm;

    impl Harness for Shm {
        type E = ShmEndpoint;

        fn endpoints(size: usize, exposed: usize) -> Vec<ShmEndpoint> {
            super::endpoints(size, DEFAULT_SLOTS, exposed)
        }
    }

    bandgap_comm::passing_conformance!(Shm);
}

mod shortest {
    use super::*;

    /// One slot of one cache line for each sender: nearly every piece waits.
    struct Shm;

    impl Harness for Shm {
        type E = ShmEndpoint;
        const TUNING: Tuning = Tuning { eager: 40, chunk: 64, slots: 1 };

        fn endpoints(size: usize, exposed: usize) -> Vec<ShmEndpoint> {
            super::endpoints(size, MIN_SLOTS, exposed)
        }
    }

    bandgap_comm::passing_conformance!(Shm);
}

mod reluctant {
    use super::*;

    /// Half of all calls are refused, and stores come in parts.
    struct Shm;

    impl Harness for Shm {
        type E = Reluctant<ShmEndpoint>;
        const TUNING: Tuning = Tuning { eager: 700, chunk: 1024, slots: 3 };

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            let endpoints = super::endpoints(size, 8, exposed).into_iter();
            endpoints.map(|endpoint| Reluctant::new(endpoint, size as u64, 128)).collect()
        }
    }

    bandgap_comm::passing_conformance!(Shm);
}

const WATCH: DeadlineWatch = DeadlineWatch(Duration::from_secs(60));

/// The state of other handlers, with message passing beside it.
struct Shared {
    counted: u64,
    mail: Mail,
}

impl HoldsMail for Shared {
    fn mail(&self) -> &Mail {
        &self.mail
    }
    fn mail_mut(&mut self) -> &mut Mail {
        &mut self.mail
    }
}

#[test]
fn messages_share_a_table_and_an_endpoint_with_other_handlers() {
    let tuning = Tuning::default();
    let memory = tuning.memory(2);
    let ranks = endpoints(2, 8, memory).into_iter().map(|endpoint| {
        let mut handlers = Handlers::<Shared>::new();
        let count = handlers.request(|state, call, word, _, _, _| {
            state.counted += word;
            call.done()
        });
        let first = add_handlers(&mut handlers);
        let mail = Mail::new(endpoint.rank(), 2, memory, Some((0, &tuning)), first).unwrap();
        let state = Shared { counted: 0, mail };
        let am = ActiveMessages::new(endpoint, handlers, state, Waiting::Yield, WATCH);
        (Passing::over(am), count)
    });
    let [(mut here, count), (mut there, _)] =
        <[_; 2]>::try_from(ranks.collect::<Vec<_>>()).unwrap_or_else(|_| panic!("two ranks"));
    let part = Part::new(0, 100);
    here.resize(100);
    there.resize(100);
    here.memory_mut().fill(7);
    here.active().request(1, count, [40]).unwrap();
    here.send(1, 3, part).unwrap();
    here.active().request(1, count, [2]).unwrap();
    there.recv(0, 3, part).unwrap();
    assert_eq!(there.memory(), [7; 100]);
    there.active().serve_until(|state| state.counted >= 42).unwrap();
    assert_eq!(there.active().state().counted, 42);
}

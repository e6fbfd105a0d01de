//! A kernel in which nobody answers who times: what it times is named.

use bandgap_campaign::series::Step;
use bandgap_comm::{Comm, CommError};
use bandgap_kernels::{
    Added, AtSize, CommEntry, Expects, Kernel, Needs, OverComm, Places, Refused, Round, Seat,
    Series, add, by_rank,
};
use serde::{Deserialize, Serialize};

/// Rank 0 sends to rank 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Drip {
    messages: u32,
    bytes: usize,
}

impl Kernel for Drip {
    const NAME: &'static str = "drip";
    const SERIES: &'static [Series] = &[Series::of_all("drip", |_| 1)];

    fn at(point: AtSize) -> Option<Self> {
        Some(Self { messages: point.messages, bytes: point.size })
    }

    fn check(&self, _size: usize) -> Result<(), Refused> {
        Ok(())
    }

    fn needs(&self, _size: usize) -> Needs {
        Needs::both_ways(self.messages.into(), self.bytes)
    }

    fn expects(&self, seat: &Seat) -> Expects {
        match seat.rank {
            1 => Expects::shifts(seat, self.messages, 0, 0),
            _ => Expects::default(),
        }
    }
}

impl OverComm for Drip {
    fn run<C: Comm>(&self, comm: &mut C, places: &Places, round: Round) -> Result<(), CommError> {
        let places = *places;
        by_rank(comm, 0, round.samples, self.messages, |comm, message| match comm.rank() {
            0 => comm.send(1, 1, places.outgoing(message)),
            _ => comm.recv(0, 1, places.incoming(message)),
        })
    }
}

#[test]
fn a_time_that_no_answer_ends_is_a_rate() {
    add(vec![Added::of::<CommEntry<Drip>>()]).unwrap();
    let timed = |name: &str| {
        let variant = (name == "broadcast").then(|| "binomial".to_owned());
        let step = Step { variant, ..Step::new(name, 8, 4, 2) };
        step.described(&step, true).unwrap().labels.get("timed").is_some()
    };
    assert!(timed("drip"));
    for answered in ["comms1", "echo", "exchange", "broadcast", "barrier", "comms3", "synch1"] {
        assert!(!timed(answered), "{answered}");
    }
}

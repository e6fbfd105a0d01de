//! Active Messages over the link, by ranks that wait as they do in a measurement: there and back, and from many to one.

use std::rc::Rc;
use std::time::Duration;

use bandgap_comm::{
    ActiveMessages, Bulk, Credited, DeadlineWatch, HandlerId, Handlers, Source, Waiting,
};
use bandgap_mpi::{MpiLink, World};

/// Few enough for more ranks than cores, each of which spins within MPI.
const ROUNDS: u64 = 60;
/// More than the credits of a peer, so that senders wait.
const STORM: u64 = 100;
const EXPOSED: usize = 1 << 20;
/// Where replies go.
const KEEP: HandlerId = HandlerId(0);

#[derive(Default)]
struct Seen {
    /// By rank, what it sent.
    requests: Vec<Vec<u64>>,
    replies: Vec<u64>,
}

pub fn check(world: &Rc<World>) {
    let (rank, size) = (world.rank, world.size);
    let link = MpiLink::new(Rc::clone(world), EXPOSED).unwrap();
    let mut handlers = Handlers::default();
    let echo = handlers.request(|seen: &mut Seen, call, a, _, _, _| {
        seen.requests[call.from()].push(a);
        call.reply(KEEP, [a + 1])
    });
    let sink = handlers.request(|seen: &mut Seen, call, a, _, _, _| {
        seen.requests[call.from()].push(a);
        call.done()
    });
    assert_eq!(handlers.reply(|seen: &mut Seen, _, a, _, _, _| seen.replies.push(a)), KEEP);
    let seen = Seen { requests: vec![Vec::new(); size], ..Seen::default() };
    let watch = DeadlineWatch(Duration::from_secs(60));
    let mut am =
        ActiveMessages::new(Credited::new(link, 32), handlers, seen, Waiting::Yield, watch);
    if rank == size - 1 {
        for round in 0..ROUNDS {
            am.request(0, echo, [round]).unwrap();
            am.await_replies().unwrap();
            assert_eq!(am.state().replies.last(), Some(&(round + 1)));
        }
    }
    if rank > 0 {
        for i in 0..STORM {
            am.request(0, sink, [i]).unwrap();
        }
        // Of several pieces, and of one that is not full.
        let bytes: Vec<u8> = (0..300_000).map(|at: usize| (at * 7 + rank) as u8).collect();
        am.store(0, rank * 1000, Source::Bytes(&bytes), sink, [STORM]).unwrap();
        am.await_replies().unwrap();
        am.serve_until(|seen| !seen.requests[0].is_empty()).unwrap();
    } else {
        // A store overwrites that of another rank, all but the first thousand bytes of the first.
        am.serve_until(|seen| seen.requests[1..].iter().all(|of| of.last() == Some(&STORM)))
            .unwrap();
        let mut first = [0; 1000];
        am.endpoint().read_exposed(1000, &mut first).unwrap();
        let expected: Vec<u8> = (0..1000).map(|at: usize| (at * 7 + 1) as u8).collect();
        assert_eq!(first[..], expected);
        for (from, requests) in am.state().requests.iter().enumerate().skip(1) {
            let there_and_back = if from == size - 1 { ROUNDS } else { 0 };
            let expected: Vec<u64> = (0..there_and_back).chain(0..=STORM).collect();
            assert_eq!(*requests, expected, "of rank {from}");
        }
        for peer in 1..size {
            am.request(peer, sink, [0]).unwrap();
        }
        am.await_replies().unwrap();
    }
    am.settle().unwrap();
}

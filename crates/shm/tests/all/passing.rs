//! Message passing over shared memory passes the suite with the shortest rings and limits.

use std::time::Duration;

use bandgap_comm::passing::{HoldsMail, INLINE, Mail, Passing, Tuning, Way, add_handlers};
use bandgap_comm::{
    ActiveMessages, Bulk, CommError, DeadlineWatch, Endpoint, HandlerId, Handlers, Part, Rank,
    Waiting,
};
use bandgap_conformance::conforms;
use bandgap_conformance::{Harness, Reluctant};
use bandgap_shm::{DEFAULT_SLOTS, Exposed, MIN_SLOTS, Readable, Segment, ShmEndpoint};

fn endpoints(size: usize, slots: usize, exposed: usize) -> Vec<ShmEndpoint> {
    let segment = Segment::create(size, slots).expect("shared memory");
    let memory = Exposed::create(size, exposed.next_multiple_of(4096)).expect("shared memory");
    let endpoint = |rank| ShmEndpoint::attach(&segment, rank, size)?.exposing(memory.clone());
    let readable = || Readable::of(Ok(vec![std::process::id(); size]));
    (0..size).map(|rank| endpoint(rank).expect("a free rank").reading(readable())).collect()
}

/// Message passing over endpoints.
fn passing(endpoints: Vec<ShmEndpoint>) -> Vec<Passing<ShmEndpoint, DeadlineWatch>> {
    let watch = DeadlineWatch(Duration::from_secs(30));
    let of = |endpoint| Passing::new(endpoint, 0, &Tuning::DEFAULT, Waiting::Yield, watch);
    endpoints.into_iter().map(|endpoint| of(endpoint).expect("room for slots")).collect()
}

#[test]
fn a_barrier_that_a_peer_came_to_and_this_rank_did_not_is_noticed() {
    let mut endpoints = endpoints(3, DEFAULT_SLOTS, Tuning::DEFAULT.memory(3));
    assert!(endpoints[1].signals());
    // As the first round of a barrier of two ranks does.
    endpoints[1].signal(0);
    let ranks = passing(endpoints);
    assert_eq!(ranks.iter().map(Passing::unclaimed).collect::<Vec<_>>(), [1, 0, 0]);
}

conforms!(
    /// One slot of one cache line for each sender: nearly every piece waits.
    passing shortest(size, exposed) { endpoints(size, MIN_SLOTS, exposed) } {
        tuning: Tuning { chunk: 64, slots: 1, request: 16 }
    }
);
conforms!(passing reluctant(size, exposed) { unwilling(size, exposed) } {
    tuning: SHORT
});
conforms!(
    /// A single copy of all messages that are longer than a slot takes.
    passing single(size, exposed) { unwilling(size, exposed) } {
        tuning: SHORT, way: |_| Way::Single { least: 701 }
    }
);

const SHORT: Tuning = Tuning { chunk: 1024, slots: 3, request: 200 };

/// Half of all calls are refused, and stores come in parts.
fn unwilling(size: usize, exposed: usize) -> Vec<Reluctant<ShmEndpoint>> {
    let endpoints = endpoints(size, 8, exposed).into_iter();
    endpoints.map(|endpoint| Reluctant::new(endpoint, size as u64, 128)).collect()
}

/// One copy of all messages but those in words, through the kernel; and ranks that do not agree about it.
mod ways {
    use super::*;
    use bandgap_conformance::{
        barriers, both_ways_at_once, boxed, every_length, other_length, posted_or_not,
        random_messages, receives_in_posting_order,
    };

    fn whatever_ranks_send_arrives(way: fn(Rank) -> Way) {
        let usual = |size, exposed| boxed(super::endpoints(size, DEFAULT_SLOTS, exposed));
        let made = &Harness { way, ..Harness::of(usual) };
        every_length(made);
        posted_or_not(made);
        both_ways_at_once(made);
        receives_in_posting_order(made);
        barriers(made);
        other_length(made);
        random_messages(made);
    }

    #[test]
    fn a_single_copy_of_every_length() {
        whatever_ranks_send_arrives(|_| Way::Single { least: INLINE + 1 });
    }

    #[test]
    fn ranks_that_differ_in_the_way() {
        const WAYS: [Way; 3] =
            [Way::Pieces, Way::Single { least: 30_000 }, Way::Single { least: 100 }];
        whatever_ranks_send_arrives(|rank| WAYS[rank % 3]);
    }
}

/// A rank that reads `processes`, and a peer that sends whatever it likes.
fn reader_and_peer(readable: Readable) -> [Passing<ShmEndpoint, DeadlineWatch>; 2] {
    let tuning = Tuning::DEFAULT;
    let mut readable = Some(readable);
    let ranks = endpoints(2, 8, tuning.memory(2)).into_iter().map(|endpoint| {
        let readable = readable.take();
        let endpoint = readable.into_iter().fold(endpoint, ShmEndpoint::reading);
        let mut rank = Passing::new(endpoint, 0, &tuning, Waiting::Yield, WATCH).unwrap();
        rank.resize(1 << 20);
        rank
    });
    <[_; 2]>::try_from(ranks.collect::<Vec<_>>()).unwrap_or_else(|_| panic!("two ranks"))
}

/// What comes of a message of so many bytes that the peer announces at this address.
fn announced(readable: Readable, bytes: u64, address: u64) -> CommError {
    let [mut reader, mut peer] = reader_and_peer(readable);
    reader.set_way(Way::Single { least: 100 }).unwrap();
    let announce = HandlerId(4);
    peer.active().request(0, announce, [7, bytes, 0, address]).unwrap();
    reader.recv(1, 7, Part::new(0, bytes as usize)).unwrap_err()
}

#[test]
fn an_address_that_is_not_the_peers_is_an_error_that_names_both() {
    let own = || Readable::of(Ok(vec![std::process::id(); 2]));
    let end = vec![0_u8; 4096];
    let mapped = end.as_ptr().addr() as u64;
    for address in [8, u64::MAX, u64::MAX - 4096, 1 << 63, mapped - (1 << 46)] {
        let error = announced(own(), 1000, address);
        let CommError::Garbage { peer: 1, what } = &error else { panic!("{error}") };
        assert!(what.contains("1000 bytes") && what.contains(&format!("{address:#x}")), "{what}");
    }
}

#[test]
fn a_peer_whose_process_has_ended_is_gone() {
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let error = announced(Readable::of(Ok(vec![ended.id(); 2])), 1 << 20, 1 << 20);
    assert!(matches!(error, CommError::PeerGone { peer: 1, .. }), "{error}");
}

#[test]
fn where_reading_is_forbidden_messages_go_in_pieces_and_the_reason_is_told() {
    let reason = "Operation not permitted (os error 1)";
    let [mut reader, mut peer] = reader_and_peer(Readable::of(Err(reason.into())));
    assert_eq!(reader.as_active().endpoint().single_copy(), Err(reason));
    let refused = reader.set_way(Way::Single { least: 100 }).unwrap_err();
    assert!(refused.to_string().contains(reason), "{refused}");
    peer.set_way(Way::Single { least: 100 }).unwrap();
    let part = Part::new(0, 1 << 20);
    peer.memory_mut().fill(7);
    let sent = peer.isend(0, 1, part).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| peer.wait(sent).unwrap());
        reader.recv(1, 1, part).unwrap();
    });
    assert!(reader.memory().iter().all(|byte| *byte == 7));
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
    let tuning = Tuning::DEFAULT;
    let memory = tuning.memory(2);
    let ranks = endpoints(2, 8, memory).into_iter().map(|endpoint| {
        let mut handlers = Handlers::<Shared>::default();
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

//! Message passing over shared memory passes the suite: with the usual rings and limits, and with
//! the shortest of both.

use std::time::Duration;

use bandgap_comm::passing::conformance::{Harness, Reluctant};
use bandgap_comm::passing::{HoldsMail, INLINE, Mail, Memory, Passing, Tuning, Way, add_handlers};
use bandgap_comm::{
    ActiveMessages, CommError, DeadlineWatch, Endpoint, HandlerId, Handlers, Part, Rank, Waiting,
};
use bandgap_shm::{DEFAULT_SLOTS, Exposed, MIN_SLOTS, Readable, Registered, Segment, ShmEndpoint};

fn endpoints(size: usize, slots: usize, exposed: usize) -> Vec<ShmEndpoint> {
    let segment = Segment::create(size, slots).expect("shared memory");
    let memory = Exposed::create(size, exposed.next_multiple_of(4096)).expect("shared memory");
    let endpoint = |rank| ShmEndpoint::attach(&segment, rank, size)?.exposing(memory.clone());
    let readable = || Readable::of(vec![std::process::id(); size]);
    (0..size).map(|rank| endpoint(rank).expect("a free rank").reading(readable())).collect()
}

/// The same endpoints, with registered memory of so many bytes each.
fn registered(endpoints: Vec<ShmEndpoint>, bytes: usize) -> Vec<ShmEndpoint> {
    let registered = Registered::among(endpoints.len(), bytes).expect("shared memory");
    let both = endpoints.into_iter().zip(registered);
    both.map(|(endpoint, registered)| endpoint.registering(registered)).collect()
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

/// A single copy of all messages that are longer than a slot takes.
mod single {
    use super::*;

    struct Shm;

    impl Harness for Shm {
        type E = Reluctant<ShmEndpoint>;
        const TUNING: Tuning = Tuning { eager: 700, chunk: 1024, slots: 3 };

        fn way(_: Rank) -> Way {
            Way::Single { least: 701 }
        }

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            let endpoints = super::endpoints(size, 8, exposed).into_iter();
            endpoints.map(|endpoint| Reluctant::new(endpoint, size as u64, 128)).collect()
        }
    }

    bandgap_comm::passing_conformance!(Shm);
}

/// Messages in registered memory, which the receivers copy if they are longer than a slot takes.
mod out_of_registered_memory {
    use super::*;

    struct Shm;

    impl Harness for Shm {
        type E = Reluctant<ShmEndpoint>;
        const TUNING: Tuning = Tuning { eager: 700, chunk: 1024, slots: 3 };

        fn way(_: Rank) -> Way {
            Way::Registered { least: 701 }
        }

        fn memory(_: Rank) -> Memory {
            Memory::Registered
        }

        fn endpoints(size: usize, exposed: usize) -> Vec<Self::E> {
            let endpoints = registered(super::endpoints(size, 8, exposed), 4100 << 10).into_iter();
            endpoints.map(|endpoint| Reluctant::new(endpoint, size as u64, 128)).collect()
        }
    }

    bandgap_comm::passing_conformance!(Shm);
}

/// One copy of all messages but those in words, through the kernel or out of registered memory; and
/// ranks that do not agree about it.
mod ways {
    use super::*;
    use bandgap_comm::passing::conformance::{
        all_to_all, barriers, both_ways_at_once, every_length, order_is_kept, other_length,
        posted_or_not, random_messages, receives_in_posting_order, tags_choose,
    };

    struct All;

    impl Harness for All {
        type E = ShmEndpoint;

        fn way(_: Rank) -> Way {
            Way::Single { least: INLINE + 1 }
        }

        fn endpoints(size: usize, exposed: usize) -> Vec<ShmEndpoint> {
            super::endpoints(size, DEFAULT_SLOTS, exposed)
        }
    }

    struct Differing;

    impl Harness for Differing {
        type E = ShmEndpoint;

        fn way(rank: Rank) -> Way {
            [Way::Pieces, Way::Single { least: 30_000 }, Way::Single { least: 100 }][rank % 3]
        }

        fn endpoints(size: usize, exposed: usize) -> Vec<ShmEndpoint> {
            super::endpoints(size, DEFAULT_SLOTS, exposed)
        }
    }

    /// Registered memory stays until the process ends: no test of it has the longest messages.
    const SHORTER: Tuning = Tuning { eager: 2 << 10, chunk: 4 << 10, slots: 4 };

    /// As [`All`], out of registered memory.
    struct Mapped;

    impl Harness for Mapped {
        type E = ShmEndpoint;
        const TUNING: Tuning = SHORTER;

        fn way(_: Rank) -> Way {
            Way::Registered { least: INLINE + 1 }
        }

        fn memory(_: Rank) -> Memory {
            Memory::Registered
        }

        fn endpoints(size: usize, exposed: usize) -> Vec<ShmEndpoint> {
            registered(super::endpoints(size, DEFAULT_SLOTS, exposed), 16 << 20)
        }
    }

    /// Ranks whose messages lie in different memories, and that differ in the way.
    struct Elsewhere;

    impl Harness for Elsewhere {
        type E = ShmEndpoint;
        const TUNING: Tuning = SHORTER;

        fn way(rank: Rank) -> Way {
            let mapped = |least| Way::Registered { least };
            [mapped(100), mapped(3000), Way::Single { least: 100 }, Way::Pieces][rank % 4]
        }

        fn memory(rank: Rank) -> Memory {
            [Memory::Registered, Memory::Private, Memory::Registered][rank % 3]
        }

        fn endpoints(size: usize, exposed: usize) -> Vec<ShmEndpoint> {
            registered(super::endpoints(size, DEFAULT_SLOTS, exposed), 16 << 20)
        }
    }

    fn whatever_ranks_send_arrives<H: Harness>() {
        every_length::<H>();
        posted_or_not::<H>();
        both_ways_at_once::<H>();
        order_is_kept::<H>();
        tags_choose::<H>();
        receives_in_posting_order::<H>();
        all_to_all::<H>();
        barriers::<H>();
        other_length::<H>();
        random_messages::<H>();
    }

    #[test]
    fn a_single_copy_of_every_length() {
        whatever_ranks_send_arrives::<All>();
    }

    #[test]
    fn a_copy_of_every_length_out_of_registered_memory() {
        whatever_ranks_send_arrives::<Mapped>();
    }

    #[test]
    fn ranks_that_differ_in_the_way() {
        whatever_ranks_send_arrives::<Differing>();
    }

    #[test]
    fn ranks_that_differ_in_where_messages_lie() {
        whatever_ranks_send_arrives::<Elsewhere>();
    }
}

/// A rank that reads `processes`, and a peer that sends whatever it likes.
fn reader_and_peer(readable: Readable) -> [Passing<ShmEndpoint, DeadlineWatch>; 2] {
    let tuning = Tuning::default();
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
    let announce = HandlerId(2);
    peer.active().request(0, announce, [7 | 1 << 32, bytes, 0, address]).unwrap();
    reader.recv(1, 7, Part::new(0, bytes as usize)).unwrap_err()
}

#[test]
fn an_address_that_is_not_the_peers_is_an_error_that_names_both() {
    let own = || Readable::of(vec![std::process::id(); 2]);
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
    let error = announced(Readable::of(vec![ended.id(); 2]), 1 << 20, 1 << 20);
    assert!(matches!(error, CommError::PeerGone { peer: 1, .. }), "{error}");
}

#[test]
fn where_reading_is_forbidden_messages_go_in_pieces_and_the_reason_is_told() {
    let reason = "Operation not permitted (os error 1)";
    let [mut reader, mut peer] = reader_and_peer(Readable::forbidden(reason.into()));
    assert_eq!(reader.single_copy(), Err(reason));
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

/// Two ranks with registered memory of 1 MiB, in which the messages of both lie.
fn registered_pair() -> [Passing<ShmEndpoint, DeadlineWatch>; 2] {
    let tuning = Tuning::default();
    let endpoints = registered(endpoints(2, 8, tuning.memory(2)), 1 << 20).into_iter();
    let ranks = endpoints.map(|endpoint| {
        let mut rank = Passing::new(endpoint, 0, &tuning, Waiting::Yield, WATCH).unwrap();
        rank.lie_in(Memory::Registered, 1 << 20).unwrap();
        rank.set_way(Way::Registered { least: 100 }).unwrap();
        rank
    });
    <[_; 2]>::try_from(ranks.collect::<Vec<_>>()).unwrap_or_else(|_| panic!("two ranks"))
}

#[test]
fn an_offset_beyond_what_a_peer_registered_is_an_error_that_names_both() {
    for (bytes, at) in [(1000, (1 << 20) - 999), (1 << 20, 1), (1000, u64::MAX), (1000, 1 << 63)] {
        let [mut reader, mut peer] = registered_pair();
        let announce = HandlerId(2);
        peer.active().request(0, announce, [7 | 2 << 32, bytes, 0, at]).unwrap();
        let error = reader.recv(1, 7, Part::new(0, bytes as usize)).unwrap_err();
        let CommError::Garbage { peer: 1, what } = &error else { panic!("{error}") };
        let named = [format!("{bytes} bytes"), format!("offset {at} "), "1048576 bytes".into()];
        assert!(named.iter().all(|number| what.contains(number)), "{what}");
    }
}

#[test]
fn registered_memory_is_copied_out_of_by_its_receiver_and_no_other_is_read_so() {
    // A sender that waits for nothing but an answer: its receiver moves all bytes by itself.
    let taken_alone = |memory| {
        let [mut receiver, mut sender] = registered_pair();
        sender.lie_in(memory, 1 << 20).unwrap();
        let part = Part::new(5, 100_000);
        sender.memory_mut()[part.range()].fill(7);
        let sent = sender.isend(0, 1, part).unwrap();
        let into = receiver.irecv(1, 1, part).unwrap();
        (0..1000).for_each(|_| receiver.progress().unwrap());
        let came = receiver.memory()[part.range()].iter().all(|byte| *byte == 7);
        std::thread::scope(|scope| {
            scope.spawn(|| sender.wait(sent).unwrap());
            receiver.wait(into).unwrap();
        });
        assert!(receiver.memory()[part.range()].iter().all(|byte| *byte == 7));
        came
    };
    assert!(taken_alone(Memory::Registered));
    assert!(!taken_alone(Memory::Private));
}

#[test]
fn memory_is_chosen_between_messages_and_each_keeps_its_bytes() {
    let [mut rank, _] = registered_pair();
    rank.memory_mut().fill(1);
    rank.lie_in(Memory::Private, 10).unwrap();
    rank.memory_mut().fill(2);
    let error = rank.lie_in(Memory::Registered, (1 << 20) + 1).unwrap_err();
    assert!(matches!(&error, CommError::NotRegistered { reason } if reason.contains("1048577")));
    assert_eq!(rank.memory(), [2; 10]);
    rank.lie_in(Memory::Registered, 20).unwrap();
    assert_eq!(rank.memory(), [1; 20]);
    rank.resize(10);
    assert_eq!(rank.memory(), [2; 10]);
}

#[test]
fn without_registered_memory_messages_lie_in_private_memory_and_the_reason_is_told() {
    let reason = "the ranks have not made any";
    let [mut rank, _] = reader_and_peer(Readable::of(vec![std::process::id(); 2]));
    assert_eq!(rank.registered(), Err(reason));
    let refused = [
        rank.lie_in(Memory::Registered, 8).unwrap_err(),
        rank.set_way(Way::Registered { least: 100 }).unwrap_err(),
    ];
    for error in refused {
        assert!(matches!(&error, CommError::NotRegistered { reason: told } if told == reason));
    }
    assert_eq!(rank.memory().len(), 1 << 20);
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

//! Misuse, and misbehaving peers.

use std::fmt::Debug;

use super::ranks::{Ranks, end, finish, one_of_each, pair, pattern, ranks, run, turns};
use crate::ranks::{assert_nobody, request, until_error};
use crate::{Harness, Result};
use bandgap_comm::{CommError, Endpoint, HandlerId, Part, Word};

/// Of a receive from rank 0 that took a message of another length: the two lengths.
fn lengths<T: Debug>(outcome: Result<T>, sent: u32) -> [usize; 2] {
    match outcome {
        Err(CommError::OtherLength { from: 0, tag, bytes, expected }) if tag == sent => {
            [bytes, expected]
        }
        other => panic!("{other:?}"),
    }
}

/// What rank 1 sent that it may not send.
fn garbage<T: Debug>(outcome: Result<T>) -> String {
    match outcome {
        Err(CommError::Garbage { peer: 1, what }) => what,
        other => panic!("{other:?}"),
    }
}

/// A message longer or shorter than its receive is an error that names both lengths. The sender
/// finishes, and the next message arrives.
pub fn other_length(made: &Harness) {
    for room in one_of_each(&made.tuning) {
        for (len, posted_first) in
            [room + 1, room - 1].into_iter().flat_map(|len| [(len, true), (len, false)])
        {
            let mut pair = pair(made);
            pair[0].reserve(2, len + room);
            pair[1].reserve(2, 2 * room);
            let post =
                |pair: &mut [Ranks; 2]| pair[1].irecv_room(0, 8, room).expect("no peer misbehaves");
            let early = posted_first.then(|| post(&mut pair));
            let wrong = pair[0].isend_bytes(1, 8, &pattern(8, len)).expect("a live peer");
            if early.is_none() {
                turns(&mut pair, "the message", |pair| pair[1].unclaimed() > 0);
            }
            let (recv, into) = early.unwrap_or_else(|| post(&mut pair));
            turns(&mut pair, "the message to be refused", |pair| pair[1].is_over(&recv));
            end(&mut pair, 0, wrong, "its send");
            assert_eq!(lengths(pair[1].wait(recv), 8), [len, room]);
            let untouched = vec![0xEE; room];
            pair[1].assert_bytes(into, &untouched, "a refused message");
            let send = pair[0].isend_bytes(1, 8, &pattern(8, room)).expect("a live peer");
            let (recv, into) = post(&mut pair);
            end(&mut pair, 1, recv, "the next message");
            pair[1].assert_bytes(into, &pattern(8, room), "the next message");
            end(&mut pair, 0, send, "its send");
            finish(pair);
        }
    }
    // The same for a blocking receive and for an exchange.
    run(made, 2, |rank| {
        for room in one_of_each(&made.tuning) {
            for len in [room - 1, room + 1] {
                rank.reserve(2, room + len);
                if rank.rank() == 0 {
                    rank.send_bytes(1, 8, &pattern(8, len))?;
                    rank.reserve(2, room + len);
                    let (from, into) = (rank.put(&pattern(9, len)), rank.room(0));
                    rank.exchange(1, 9, from, into)?;
                    continue;
                }
                let error = rank.recv_room(0, 8, room).expect_err("it has another length");
                let text = error.to_string();
                for named in ["rank 0".into(), "tag 8".into(), len.to_string(), room.to_string()] {
                    assert!(text.contains(&named), "{text}");
                }
                let empty = rank.room(0);
                let into = Part::new(16, room);
                assert_eq!(lengths(rank.exchange(0, 9, empty, into), 9), [len, room]);
            }
        }
        Ok(())
    });
}

/// A part outside memory is an error, and so are two that overlap. Nothing is sent then.
pub fn misplaced_parts(made: &Harness) {
    run(made, 2, |rank| {
        let (me, peer) = (rank.rank(), 1 - rank.rank());
        for len in one_of_each(&made.tuning) {
            rank.reserve(2, 2 * len);
            let bytes = |rank: usize| pattern(rank as u64, len);
            let (from, into) = (rank.put(&bytes(me)), rank.room(len));
            let memory = rank.memory().len();
            for outside in [Part::new(memory - 1, len), Part::new(usize::MAX, len)] {
                let answers = [
                    rank.send(peer, 0, outside),
                    rank.isend(peer, 0, outside).map(drop),
                    rank.recv(peer, 0, outside),
                    rank.irecv(peer, 0, outside).map(drop),
                    rank.exchange(peer, 0, outside, into),
                    rank.exchange(peer, 0, from, outside),
                    outside.copy(rank.memory_mut(), into),
                    outside.add(rank.memory_mut(), from),
                ];
                for answer in answers {
                    let Err(CommError::NotInMemory { part, memory: len }) = answer else {
                        panic!("{answer:?}");
                    };
                    assert_eq!((part, len), (outside, memory));
                }
            }
            let shared = Part::new(into.at - 17, len);
            let answer = rank.exchange(peer, 0, from, shared);
            assert!(matches!(answer, Err(CommError::Overlap { .. })), "{answer:?}");
            rank.exchange(peer, 0, from, into)?;
            rank.assert_bytes(into, &bytes(peer), "what follows");
            from.copy(rank.memory_mut(), into)?;
            rank.assert_bytes(into, &bytes(me), "a copy");
        }
        Ok(())
    });
}

/// A rank is no peer of itself, and ranks end at the size.
pub fn no_such_peer_of_messages(made: &Harness) {
    for size in [1, 3] {
        for mut rank in ranks(made, size) {
            rank.reserve(2, 200);
            let me = rank.rank();
            for nobody in [me, size, usize::MAX] {
                for len in [1, 100] {
                    let (from, into) = (Part::new(0, len), Part::new(len, len));
                    let answers = [
                        rank.send(nobody, 0, from),
                        rank.isend(nobody, 0, from).map(drop),
                        rank.recv(nobody, 0, into),
                        rank.irecv(nobody, 0, into).map(drop),
                        rank.exchange(nobody, 0, from, into),
                    ];
                    answers.into_iter().for_each(|answer| assert_nobody(answer, nobody, size));
                }
            }
            for ranks in [0, me, size + 1, usize::MAX] {
                let answer = rank.barrier(ranks);
                assert!(matches!(answer, Err(CommError::NoSuchPeer { .. })), "{ranks}: {answer:?}");
            }
        }
    }
}

/// Words that no peer may send are errors, which name the peer and the wrong number.
pub fn garbage_is_named(made: &Harness) {
    let long = |bytes: usize| (bytes as Word) << 32;
    if made.tuning.slots == 0 {
        // The bytes that a request should carry do not come.
        let [mut here, mut there] = pair(made);
        here.reserve(1, 4);
        for _ in 0..2 {
            there.active().request(0, HandlerId(1), [long(30), 0xFFFF, 0]).expect("a live peer");
        }
        let what = garbage(here.recv_room(1, 1, 4));
        assert!(what.contains("30 bytes"), "{what}");
        return;
    }
    // Rank 0 begins with the slots before this one, and rank 1, which misbehaves, with those from
    // it on.
    let own = made.tuning.memory(2) as Word / 2 / made.tuning.chunk.next_multiple_of(64) as Word;
    // Handlers in their order: words, slot, first, next, announce, answer, piece, return, barrier.
    let too_long = format!("{} bytes", made.tuning.chunk + 64);
    let cases: [(u8, &[Word], &str); 20] = [
        (0, &[long(25), 0, 0, 0], "25 bytes"),
        (0, &[long(u32::MAX as usize), 0, 0, 0], "4294967295 bytes"),
        (1, &[long(30), 0, 0], "slot 0"),
        (1, &[long(30), Word::MAX, 0], "18446744073709551615"),
        (1, &[long(made.tuning.chunk + 64), own, 0], &too_long),
        (2, &[0, 8, own, 0], "8 bytes"),
        (2, &[0, Word::MAX, 0, 0], "slot 0"),
        (3, &[long(30), own, 0], "30 bytes"),
        (4, &[1, 100], "2 words"),
        (5, &[0, 0, 1], "send 0"),
        (5, &[Word::MAX, 0, 1], "18446744073709551615"),
        (6, &[long(30) | 77, own, 0], "receive 77"),
        (6, &[long(made.tuning.chunk + 64), own, 0], &too_long),
        (1, &[long(30), own, 1], "slot 0"),
        (7, &[1], "slot 0"),
        (8, &[long(2) | 1], "round 1"),
        (8, &[long(2) | 64], "round 64"),
        (8, &[long(3)], "3 ranks"),
        (8, &[long(1)], "1 ranks"),
        (8, &[Word::MAX], "4294967295 ranks"),
    ];
    for (handler, words, named) in cases {
        let [mut here, mut there] = pair(made);
        here.reserve(1, 4);
        let sent = request(there.active(), 0, HandlerId(handler), words);
        sent.expect("a sender does not know what is right");
        let what = garbage(here.recv_room(1, 1, 4));
        assert!(what.contains(named), "{handler:?}, {words:?}: {what}");
        // It stays that way.
        garbage(here.progress());
    }
    // The message that a rank waits for, in slots that its sender does not have. That of a slot too
    // many may still be taken; what follows fails.
    for (slot, given_back, named) in
        [(0, 0, "slot 0"), (Word::MAX, 0, "18446744073709551615"), (own, 1, "slot 0")]
    {
        let [mut here, mut there] = pair(made);
        here.reserve(1, 30);
        let words = [long(30) | 1, slot, given_back];
        there.active().request(0, HandlerId(1), words).expect("a live peer");
        let what = garbage(here.recv_room(1, 1, 30).and_then(|_| here.progress()));
        assert!(what.contains(named), "{words:?}: {what}");
        garbage(here.progress());
    }
    // A slot is refused while it is not with its sender.
    let [mut here, mut there] = pair(made);
    let flood = |there: &mut Ranks, slot| {
        there.active().request(0, HandlerId(1), [long(30), slot, 0]).is_ok()
    };
    let mut outcome = Ok(0);
    for count in 0..=own {
        assert!(flood(&mut there, own + count % own));
        while outcome.as_ref().is_ok_and(|&handled| handled == 0) {
            outcome = here.active().poll();
        }
        outcome = outcome.map(|_| 0);
    }
    garbage(here.progress());

    // A piece longer than what is left of a message of 30 bytes, which receive 0 has taken.
    let [mut here, mut there] = pair(made);
    let active = there.active();
    active.request(0, HandlerId(4), [1, 30, 5, 0]).expect("a live peer");
    here.reserve(1, 30);
    let (_recv, _) = here.irecv_room(1, 1, 30).expect("nothing is wrong yet");
    while active.endpoint().outstanding() > 0 {
        here.progress().expect("nothing is wrong yet");
        active.poll().expect("its own part is right");
    }
    active.request(0, HandlerId(6), [long(31), own, 0]).expect("a live peer");
    let error = until_error("the end", || {
        active.poll().expect("its own part is right");
        here.progress()
    });
    let what = garbage::<()>(Err(error));
    assert!(what.contains("31 bytes") && what.contains("30"), "{what}");
}

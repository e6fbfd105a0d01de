//! Misuse, and peers that misbehave.

use super::Harness;
use super::ranks::{assert_bytes, finish, one_of_each, pair, pattern, ranks, turns};
use crate::passing::Status;
use crate::{CommError, Endpoint, HandlerId, Word};

/// A message longer than the buffer is an error that names both lengths; its sender finishes, and
/// the next message arrives.
pub fn too_long<H: Harness>() {
    for len in one_of_each(&H::TUNING) {
        for posted_first in [true, false] {
            let mut pair = pair::<H>();
            let post = |pair: &mut [super::ranks::Ranks<H>; 2]| {
                pair[1].irecv(0, 8, vec![0; len - 1]).expect("no peer misbehaves")
            };
            let early = posted_first.then(|| post(&mut pair));
            let sends = [len, len - 1]
                .map(|len| pair[0].isend(1, 8, pattern(8, len)).expect("a live peer"));
            if early.is_none() {
                turns::<H>(&mut pair, "the message", |pair| {
                    pair[1].iprobe(0, 8).expect("a live peer").is_some()
                });
            }
            let recv = early.unwrap_or_else(|| post(&mut pair));
            turns::<H>(&mut pair, "the message to be refused", |pair| {
                let received = pair[1].test_recv(&recv).expect("nobody sent garbage");
                received && pair[0].test_send(&sends[0]).expect("a live peer")
            });
            let room = len - 1;
            match pair[1].wait_recv(recv) {
                Err(CommError::TooLong { from: 0, tag: 8, bytes, room: had }) => {
                    assert_eq!((bytes, had), (len, room));
                }
                other => panic!("{:?}", other.map(|(_, status)| status)),
            }
            let recv = post(&mut pair);
            turns::<H>(&mut pair, "the next message", |pair| {
                let received = pair[1].test_recv(&recv).expect("nobody sent garbage");
                received && pair[0].test_send(&sends[1]).expect("a live peer")
            });
            let (got, status) = pair[1].wait_recv(recv).expect("it fits");
            assert_eq!(status, Status { from: 0, tag: 8, bytes: room });
            assert_bytes(&got, &pattern(8, room), "the next message");
            for send in sends {
                pair[0].wait_send(send).expect("over");
            }
            finish::<H>(pair);
        }
    }
    // The same for a receive that waits, where the error carries the lengths to its caller.
    super::ranks::run::<H>(2, |rank| {
        for len in one_of_each(&H::TUNING) {
            if rank.rank() == 0 {
                rank.send(1, 8, &pattern(8, len))?;
                rank.exchange(1, 9, &pattern(9, len), &mut [])?;
                continue;
            }
            let error = rank.recv(0, 8, &mut vec![0; len - 1]).expect_err("it is too long");
            let text = error.to_string();
            assert!(text.contains(&len.to_string()), "{text}");
            assert!(text.contains(&(len - 1).to_string()), "{text}");
            let error = rank.exchange(0, 9, &[], &mut []).expect_err("it is too long");
            assert!(
                matches!(error, CommError::TooLong { bytes, room: 0, .. } if bytes == len),
                "{error}"
            );
        }
        Ok(())
    });
}

/// A rank is no peer of itself, and ranks end at the size.
pub fn no_such_peer<H: Harness>() {
    for size in [1, 3] {
        for mut rank in ranks::<H>(size) {
            for nobody in [rank.rank(), size, usize::MAX] {
                for len in [1, 100] {
                    let answers = [
                        rank.send(nobody, 0, &vec![0; len]),
                        rank.isend(nobody, 0, vec![0; len]).map(|_| ()),
                        rank.recv(nobody, 0, &mut vec![0; len]).map(|_| ()),
                        rank.irecv(nobody, 0, vec![0; len]).map(|_| ()),
                        rank.exchange(nobody, 0, &[], &mut vec![0; len]).map(|_| ()),
                        rank.iprobe(nobody, 0).map(|_| ()),
                    ];
                    for answer in answers {
                        let refused = matches!(
                            answer,
                            Err(CommError::NoSuchPeer { peer, size: of })
                                if (peer, of) == (nobody, size)
                        );
                        assert!(refused, "{nobody} of {size}: {answer:?}");
                    }
                }
            }
        }
    }
}

/// Words that no peer may send are errors with its number and the words'.
pub fn garbage_is_named<H: Harness>() {
    let long = |bytes: usize| (bytes as Word) << 32;
    let slots = H::TUNING.slots as Word;
    // Handlers in their order: words, slot, announce, answer, piece, return, barrier.
    let cases: [(u8, &[Word], &str); 14] = [
        (0, &[long(25), 0, 0, 0], "25 bytes"),
        (0, &[long(u32::MAX as usize), 0, 0, 0], "4294967295 bytes"),
        (1, &[long(30), slots, 0], "slot"),
        (1, &[long(30), Word::MAX, 0], "18446744073709551615"),
        (1, &[long(H::TUNING.eager + 1), 0, 0], "bytes in a slot for"),
        (2, &[1, 100, 0], "3 words"),
        (3, &[0, 0, 1], "send 0"),
        (3, &[Word::MAX, 0, 1], "18446744073709551615"),
        (4, &[long(30) | 77, 0, 0], "receive 77"),
        (4, &[long(H::TUNING.chunk + 1), 0, 0], "bytes in a slot for"),
        (1, &[long(30), 0, 1], "1 slots"),
        (5, &[1], "1 slots"),
        (6, &[1], "round 1"),
        (6, &[Word::MAX], "18446744073709551615"),
    ];
    for (handler, words, named) in cases {
        let [mut here, mut there] = pair::<H>();
        let (active, handler) = (there.active(), HandlerId(handler));
        let sent = match *words {
            [a] => active.request(0, handler, [a]),
            [a, b] => active.request(0, handler, [a, b]),
            [a, b, c] => active.request(0, handler, [a, b, c]),
            [a, b, c, d] => active.request(0, handler, [a, b, c, d]),
            _ => panic!("one to four words"),
        };
        sent.expect("a sender does not know what is right");
        let error = here.recv(1, 1, &mut [0; 4]).expect_err("garbage arrives");
        match &error {
            CommError::Garbage { peer: 1, what } if what.contains(named) => {}
            other => panic!("{handler:?}, {words:?}: {other}"),
        }
        // It stays that way.
        assert!(matches!(here.poll(), Err(CommError::Garbage { peer: 1, .. })));
    }
    // A slot is refused while it is not free: one more than there are, without being given back.
    let [mut here, mut there] = pair::<H>();
    let flood = |there: &mut super::ranks::Ranks<H>, slot| {
        there.active().request(0, HandlerId(1), [long(30), slot, 0]).is_ok()
    };
    let mut outcome = Ok(0);
    for count in 0..=slots {
        assert!(flood(&mut there, count % slots));
        while outcome.as_ref().is_ok_and(|&handled| handled == 0) {
            outcome = here.active().poll();
        }
        outcome = outcome.map(|_| 0);
    }
    let error = here.poll().expect_err("one slot too many");
    assert!(
        matches!(&error, CommError::Garbage { peer: 1, what } if what.contains("0 are its own"))
    );

    // A piece longer than what is left of a message of 30 bytes, which receive 0 has taken.
    let [mut here, mut there] = pair::<H>();
    let active = there.active();
    active.request(0, HandlerId(2), [1, 30, 5, 0]).expect("a live peer");
    let _recv = here.irecv(1, 1, vec![0; 30]).expect("nothing is wrong yet");
    while active.endpoint().outstanding() > 0 {
        here.poll().expect("nothing is wrong yet");
        active.poll().expect("its own part is right");
    }
    active.request(0, HandlerId(4), [long(31), 0, 0]).expect("a live peer");
    let error = loop {
        active.poll().expect("its own part is right");
        if let Err(error) = here.poll() {
            break error;
        }
    };
    let CommError::Garbage { peer: 1, what } = error else { panic!("{error}") };
    assert!(what.contains("31 bytes") && what.contains("30 are left"), "{what}");
}

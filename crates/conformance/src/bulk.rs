//! Bytes between exposed memories: they arrive where they should, and nowhere else.

use super::filled::{Filled, byte_at, filled};
use super::ranks::{ECHO, Log, SINK, run_over};
use super::{EXPOSED, Harness};
use bandgap_comm::{Bulk, CommError, Endpoint, HandlerId, Message, Source};

/// Lengths of transfers: 0, less than a word, a page, and more than fits into a channel.
const LENGTHS: [usize; 5] = [0, 1, 7, 4096, (1 << 20) + 3];
/// Where the reply handler of these tests puts a get's words.
const NOTE: HandlerId = HandlerId(0);

/// When the handler of the request behind a store runs, the stored bytes are there and no others
/// have changed. So for bytes of the sender's own memory, and of what it exposes.
pub fn a_store_is_there_before_its_request<H: Harness>() {
    run_over(filled::<H>(2), |am| {
        let mut memory = Filled::new(am.rank());
        for (i, len) in LENGTHS.into_iter().enumerate() {
            let (into, at) = (5 + i, 1000 + i);
            for exposed in [false, true] {
                let nth = 2 * i + usize::from(exposed);
                if am.rank() == 0 {
                    let bytes: Vec<u8> = (0..len).map(|at| byte_at(7, at)).collect();
                    let from =
                        if exposed { Source::Exposed { at, len } } else { Source::Bytes(&bytes) };
                    am.store(1, into, from, ECHO, [nth as u64])?;
                    // The source may change now.
                    drop(bytes);
                    am.await_replies()?;
                    // The next store may come once this one was looked at.
                    am.serve_until(|log| log.requests.len() > nth)?;
                } else {
                    am.serve_until(|log| log.requests.len() > nth)?;
                    let (rank, at) = if exposed { (0, at) } else { (7, 0) };
                    memory.expect(into, (at..at + len).map(|at| byte_at(rank, at)));
                    memory.check(am)?;
                    am.request(0, SINK, [])?;
                }
            }
        }
        memory.check(am)
    });
}

/// A get brings the bytes of the peer. Its handler runs once, when they are there. No other bytes
/// change on either side.
pub fn a_get_brings_the_bytes_of_the_peer<H: Harness>() {
    for size in [2, 4] {
        let logs = run_over(filled::<H>(size), |am| {
            let peer = (am.rank() + 1) % size;
            let mut memory = Filled::new(am.rank());
            for (i, len) in LENGTHS.into_iter().enumerate() {
                // Into the upper half: peers read from the lower.
                let (at, into) = (100 + i, EXPOSED / 2 + 3 * i);
                am.get(peer, at, into, len, NOTE, [at as u64, len as u64])?;
                am.serve_until(|log| log.replies.len() > i)?;
                memory.expect(into, (at..at + len).map(|at| byte_at(peer, at)));
                memory.check(am)?;
            }
            am.await_replies()
        });
        for (rank, log) in logs.iter().enumerate() {
            let expected: Vec<_> = LENGTHS
                .into_iter()
                .enumerate()
                .map(|(i, len)| ((rank + 1) % size, vec![100 + i as u64, len as u64]))
                .collect();
            assert_eq!(log.replies, expected);
            assert!(log.requests.is_empty());
        }
    }
}

/// Every rank stores megabytes to the next rank and gets megabytes from it, all at the same time:
/// far more than channels hold, in a ring in which each waits for another.
pub fn rings_of_long_transfers_do_not_lock_up<H: Harness>() {
    const LEN: usize = EXPOSED / 4 - 501;
    const ROUNDS: usize = 3;
    /// A rank says that it has seen the bytes stored to it.
    const SEEN: u64 = u64::MAX;
    let count = |log: &Log, seen: bool| {
        log.requests.iter().filter(|(_, words)| (words[0] == SEEN) == seen).count()
    };
    for size in [2, 3, 4] {
        run_over(filled::<H>(size), |am| {
            let (next, before) = ((am.rank() + 1) % size, (am.rank() + size - 1) % size);
            let mut memory = Filled::new(am.rank());
            // The first quarter is read from, the second stored to, the third got into.
            let (into, got) = (EXPOSED / 4 + 1, EXPOSED / 2 + 1);
            for round in 0..ROUNDS {
                let at = 64 * round + 1;
                am.get(next, at, got, LEN, NOTE, [])?;
                am.store(next, into, Source::Exposed { at, len: LEN }, SINK, [at as u64])?;
                am.await_replies()?;
                am.serve_until(|log| count(log, false) > round)?;
                memory.expect(into, (at..at + LEN).map(|at| byte_at(before, at)));
                memory.expect(got, (at..at + LEN).map(|at| byte_at(next, at)));
                memory.check(am)?;
                // The next store may come once this one was looked at.
                am.request(before, ECHO, [SEEN])?;
                am.serve_until(|log| count(log, true) > round)?;
            }
            Ok(())
        });
    }
}

/// A transfer from or to bytes that are not exposed is refused where it begins. Nothing is sent,
/// and the endpoint goes on.
pub fn what_is_not_exposed_is_refused<H: Harness>() {
    let mut ends = filled::<H>(2);
    let exposed = ends[0].exposed();
    assert!(exposed >= EXPOSED, "{exposed} bytes are exposed");
    let message = Message::new(NOTE, []);
    let end = &mut ends[0];
    for (at, len) in [(exposed, 1), (exposed - 3, 4), (exposed + 1, 0), (usize::MAX, 2)] {
        let mut bytes = vec![0; len];
        let outcomes = [
            end.read_exposed(at, &mut bytes),
            end.write_exposed(at, &bytes),
            end.try_store(1, at, Source::Bytes(&bytes), &mut 0).map(drop),
            end.try_store(1, at, Source::Exposed { at: 0, len }, &mut 0).map(drop),
            end.try_store(1, 0, Source::Exposed { at, len }, &mut 0).map(drop),
            end.try_get(1, at, 0, len, message).map(drop),
            end.try_get(1, 0, at, len, message).map(drop),
        ];
        for (i, outcome) in outcomes.into_iter().enumerate() {
            match outcome {
                Err(CommError::NotExposed { at: a, len: l, exposed: e }) => {
                    assert_eq!((a, l, e), (at, len, exposed));
                }
                other => panic!("call {i} from {at}, {len} bytes: {other:?}"),
            }
        }
    }
    for nobody in [0, 2, usize::MAX] {
        let store = end.try_store(nobody, 0, Source::Bytes(&[1]), &mut 0).map(drop);
        let get = end.try_get(nobody, 0, 0, 1, message).map(drop);
        for outcome in [store, get] {
            assert!(
                matches!(outcome, Err(CommError::NoSuchPeer { peer, size: 2 }) if peer == nobody),
                "{nobody}: {outcome:?}"
            );
        }
    }
    assert_eq!((end.outstanding(), end.unsent()), (0, 0));
    let whole = run_over(ends, |am| {
        Filled::new(am.rank()).check(am)?;
        let end = am.endpoint().exposed();
        if am.rank() == 0 { am.store(1, end, Source::Bytes(&[]), ECHO, []) } else { Ok(()) }
    });
    assert_eq!((whole[1].requests.len(), whole[0].replies.len()), (1, 1));
}

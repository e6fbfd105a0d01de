//! Two ranks: messages of any length, whoever comes first.

use super::Harness;
use super::ranks::{around_limits, assert_bytes, finish, one_of_each, pair, pattern, run, turns};
use crate::passing::Status;

/// Messages of all lengths around the limits arrive whole, and nothing beside them changes.
pub fn every_length<H: Harness>() {
    run::<H>(2, |rank| {
        for (index, len) in around_limits(&H::TUNING).into_iter().enumerate() {
            let (tag, peer) = (index as u32, 1 - rank.rank());
            let sent = pattern(tag.into(), len);
            if rank.rank() == 0 {
                rank.send(peer, tag, &sent)?;
            }
            // Two bytes more than the message has.
            let mut into = vec![0xEE; len + 2];
            let status = rank.recv(peer, tag, &mut into)?;
            assert_eq!(status, Status { from: peer, tag, bytes: len });
            let expected = [&sent[..], &[0xEE; 2]].concat();
            assert_bytes(&into, &expected, "the message and what is behind it");
            if rank.rank() == 1 {
                rank.send(peer, tag, &into[..len])?;
            }
        }
        Ok(())
    });
}

/// Each protocol, with the receive posted before the message arrives and after, into a buffer that
/// fits and one that is longer.
pub fn posted_or_not<H: Harness>() {
    let lengths = one_of_each(&H::TUNING).into_iter().chain([0]);
    for (index, len) in lengths.enumerate() {
        for more in [0, 9] {
            let mut pair = pair::<H>();
            let bytes = pattern(index as u64, len);

            let posted = pair[1].irecv(0, 3, vec![1; len + more]).expect("no peer misbehaves");
            assert!(!pair[1].test_recv(&posted).expect("nothing was sent"));
            let send = pair[0].isend(1, 3, bytes.clone()).expect("a live peer");
            turns::<H>(&mut pair, "a message that is waited for", |pair| {
                pair[1].test_recv(&posted).expect("a live peer")
            });
            let (got, status) = pair[1].wait_recv(posted).expect("it is there");
            assert_eq!(status, Status { from: 0, tag: 3, bytes: len });
            assert_bytes(&got, &[&bytes[..], &vec![1; more]].concat(), "posted before");
            turns::<H>(&mut pair, "the send to be over", |pair| {
                pair[0].test_send(&send).expect("a live peer")
            });
            assert_bytes(&pair[0].wait_send(send).expect("over"), &bytes, "given back");

            let send = pair[0].isend(1, 4, bytes.clone()).expect("a live peer");
            turns::<H>(&mut pair, "a message that nobody waits for", |pair| {
                pair[1].iprobe(0, 4).expect("a live peer").is_some()
            });
            let posted = pair[1].irecv(0, 4, vec![1; len + more]).expect("no peer misbehaves");
            turns::<H>(&mut pair, "the message and its send", |pair| {
                let received = pair[1].test_recv(&posted).expect("a live peer");
                received && pair[0].test_send(&send).expect("a live peer")
            });
            let (got, status) = pair[1].wait_recv(posted).expect("it is there");
            assert_eq!(status, Status { from: 0, tag: 4, bytes: len });
            assert_bytes(&got, &[&bytes[..], &vec![1; more]].concat(), "posted after");
            assert_bytes(&pair[0].wait_send(send).expect("over"), &bytes, "given back");
            finish::<H>(pair);
        }
    }
}

/// Both ranks send long messages at once, by each of the ways there are.
pub fn both_ways_at_once<H: Harness>() {
    let long = (4 << 20).min(1000 * H::TUNING.chunk + 7);
    run::<H>(2, |rank| {
        let (me, peer) = (rank.rank(), 1 - rank.rank());
        let bytes = |rank: usize, len| pattern(rank as u64, len);
        let send = rank.isend(peer, 1, bytes(me, long))?;
        let recv = rank.irecv(peer, 1, vec![0; long])?;
        assert_bytes(&rank.wait_send(send)?, &bytes(me, long), "given back");
        assert_bytes(&rank.wait_recv(recv)?.0, &bytes(peer, long), "by isend and irecv");

        let mut into = vec![0; long + 1];
        let status = rank.exchange(peer, 2, &bytes(me, long), &mut into)?;
        assert_eq!(status, Status { from: peer, tag: 2, bytes: long });
        assert_bytes(&into[..long], &bytes(peer, long), "by exchange");

        // Every pair of protocols: each rank with its own length.
        let lengths = [0, 8, 24].into_iter().chain(one_of_each(&H::TUNING));
        let lengths: Vec<_> = lengths.collect();
        for &first in &lengths {
            for &second in &lengths {
                let (mine, other) = if me == 0 { (first, second) } else { (second, first) };
                let mut into = vec![0; other];
                let status = rank.exchange(peer, 3, &bytes(me, mine), &mut into)?;
                assert_eq!(status, Status { from: peer, tag: 3, bytes: other });
                assert_bytes(&into, &bytes(peer, other), "by exchange of two lengths");
            }
        }
        Ok(())
    });
}

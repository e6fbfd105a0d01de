//! Messages of any length arrive in order, whichever rank comes first; barriers wait for all ranks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::ranks::{around_limits, end, finish, one_of_each, pair, pattern, run, turns};
use crate::Harness;
use bandgap_comm::CommError;

/// Messages with lengths around the limits arrive complete, and no other bytes change.
pub fn every_length(made: &Harness) {
    run(made, 2, |rank| {
        for (index, len) in around_limits(&made.tuning).into_iter().enumerate() {
            let (tag, peer) = (index as u32, 1 - rank.rank());
            rank.reserve(2, 2 * len);
            let sent = pattern(tag.into(), len);
            if rank.rank() == 0 {
                rank.send_bytes(peer, tag, &sent)?;
            }
            let got = rank.recv_room(peer, tag, len)?;
            rank.assert_bytes(got, &sent, "the message and what is beside it");
            if rank.rank() == 1 {
                rank.send(peer, tag, got)?;
            }
        }
        Ok(())
    });
}

/// Each protocol, with the receive posted before and after the message arrives.
pub fn posted_or_not(made: &Harness) {
    let lengths = one_of_each(&made.tuning).into_iter().chain([0]);
    for (index, len) in lengths.enumerate() {
        let mut pair = pair(made);
        pair.iter_mut().for_each(|rank| rank.reserve(2, 2 * len));
        let bytes = pattern(index as u64, len);
        let from = pair[0].put(&bytes);

        let (posted, into) = pair[1].irecv_room(0, 3, len).expect("no peer misbehaves");
        pair[1].progress().expect("nothing was sent");
        assert!(!pair[1].is_over(&posted));
        let send = pair[0].isend(1, 3, from).expect("a live peer");
        end(&mut pair, 1, posted, "a message that is waited for");
        pair[1].assert_bytes(into, &bytes, "posted before");
        end(&mut pair, 0, send, "the send to be over");

        let send = pair[0].isend(1, 4, from).expect("a live peer");
        turns(&mut pair, "a message that nobody waits for", |pair| pair[1].unclaimed() > 0);
        let (posted, into) = pair[1].irecv_room(0, 4, len).expect("no peer misbehaves");
        end(&mut pair, 1, posted, "the message");
        pair[1].assert_bytes(into, &bytes, "posted after");
        end(&mut pair, 0, send, "the send to be over");
        pair[0].assert_bytes(from, &bytes, "what was sent");
        finish(pair);
    }
}

/// Both ranks send long messages at once, by each available call.
pub fn both_ways_at_once(made: &Harness) {
    let long = (4 << 20).min(1000 * made.tuning.chunk + 7);
    run(made, 2, |rank| {
        let (me, peer) = (rank.rank(), 1 - rank.rank());
        let bytes = |rank: usize, len| pattern(rank as u64, len);
        rank.reserve(3, 3 * long);
        let from = rank.put(&bytes(me, long));
        let send = rank.isend(peer, 1, from)?;
        let (recv, into) = rank.irecv_room(peer, 1, long)?;
        rank.wait(send)?;
        rank.assert_bytes(from, &bytes(me, long), "what was sent");
        rank.wait(recv)?;
        rank.assert_bytes(into, &bytes(peer, long), "by isend and irecv");

        let into = rank.room(long);
        rank.exchange(peer, 2, from, into)?;
        rank.assert_bytes(into, &bytes(peer, long), "by exchange");

        // Every pair of protocols: each rank has its own length.
        let lengths = [0, 8, 24].into_iter().chain(one_of_each(&made.tuning));
        let lengths: Vec<_> = lengths.collect();
        for &first in &lengths {
            for &second in &lengths {
                let (mine, other) = if me == 0 { (first, second) } else { (second, first) };
                rank.reserve(2, mine + other);
                let (from, into) = (rank.put(&bytes(me, mine)), rank.room(other));
                rank.exchange(peer, 3, from, into)?;
                rank.assert_bytes(into, &bytes(peer, other), "by exchange of two lengths");
            }
        }
        Ok(())
    });
}

/// Messages with a tag go to receives in posting order, and a blocking receive comes after those
/// posted before it.
pub fn receives_in_posting_order(made: &Harness) {
    for len in one_of_each(&made.tuning) {
        run(made, 2, |rank| {
            let bytes = |index| pattern(index, len);
            rank.reserve(5, 5 * len);
            if rank.rank() == 0 {
                rank.barrier(2)?;
                for index in 0..4 {
                    rank.send_bytes(1, 6, &bytes(index))?;
                }
                rank.barrier(2)?;
                return rank.send_bytes(1, 7, &bytes(7));
            }
            let first = rank.irecv_room(0, 6, len)?;
            let (other_tag, other) = rank.irecv_room(0, 7, len)?;
            let second = rank.irecv_room(0, 6, len)?;
            let third = rank.irecv_room(0, 6, len)?;
            rank.barrier(2)?;
            // The fourth message, since the three receives before it take the first three.
            let fourth = rank.recv_room(0, 6, len)?;
            rank.assert_bytes(fourth, &bytes(3), "the receive that waits");
            for ((posted, into), index) in [first, second, third].into_iter().zip(0..) {
                assert!(rank.is_over(&posted), "{index} was taken before");
                rank.wait(posted)?;
                rank.assert_bytes(into, &bytes(index), "a posted receive");
            }
            assert!(!rank.is_over(&other_tag));
            rank.barrier(2)?;
            rank.wait(other_tag)?;
            rank.assert_bytes(other, &bytes(7), "the other tag");
            Ok(())
        });
    }
}

/// Many more messages arrive than there are slots or credits, while their receiver waits for
/// another message. None is lost, and they keep their order.
pub fn crowded_before_received(made: &Harness) {
    const MESSAGES: u64 = 1000;
    let [short, medium, _] = one_of_each(&made.tuning);
    let length = |index: u64| if index.is_multiple_of(4) { medium } else { short };
    run(made, 2, |rank| {
        rank.reserve(2, medium);
        if rank.rank() == 0 {
            for index in 0..MESSAGES {
                rank.reserve(1, medium);
                rank.send_bytes(1, (index % 3) as u32, &pattern(index, length(index)))?;
            }
            return rank.send_bytes(1, 9, &[]);
        }
        rank.recv_room(0, 9, 0)?;
        for tag in [2, 0, 1] {
            for index in (tag..MESSAGES).step_by(3) {
                rank.reserve(1, medium);
                let got = rank.recv_room(0, tag as u32, length(index))?;
                rank.assert_bytes(got, &pattern(index, length(index)), "a kept message");
            }
        }
        Ok(())
    });
}

/// Messages that arrive before their receives, and that a transport may deliver at once, go to the
/// receives in the order of their sends, even after one with another length.
pub fn bursts(made: &Harness) {
    let [short, medium, long] = one_of_each(&made.tuning);
    for [len, other] in [[short, 8], [8, short], [medium, short], [medium, medium - 1], [long, 8]] {
        let mut pair = pair(made);
        let lengths = [other, len, len, other, len];
        let whole: usize = lengths.iter().sum();
        let [here, there] = &mut pair;
        here.reserve(lengths.len(), whole);
        there.reserve(lengths.len(), whole + len);
        let bytes = |index: usize| pattern(index as u64, lengths[index]);
        let send = |index| here.isend_bytes(1, 8, &bytes(index)).expect("a live peer");
        let sends: Vec<_> = (0..lengths.len()).map(send).collect();
        thread::scope(|scope| {
            let sending = scope.spawn(|| {
                let wait = |send| here.wait(send);
                sends.into_iter().try_for_each(wait).expect("a receive takes it");
            });
            let refused = there.recv_room(0, 8, len).expect_err("the first has another length");
            let CommError::OtherLength { from: 0, tag: 8, bytes: came, .. } = refused else {
                panic!("{refused}")
            };
            assert_eq!(came, other);
            for (index, len) in lengths.into_iter().enumerate().skip(1) {
                let got = there.recv_room(0, 8, len).expect("no peer misbehaves");
                there.assert_bytes(got, &bytes(index), "a message of a burst");
            }
            // The last word that acknowledges what was received may have been refused, and the
            // sender waits for it.
            while !sending.is_finished() {
                there.progress().expect("a live peer");
                thread::yield_now();
            }
        });
        finish(pair);
    }
}

/// No rank leaves a barrier before all have reached it. Messages in flight do not delay it.
pub fn barriers(made: &Harness) {
    const ROUNDS: usize = 20;
    for size in [1, 2, 3, 5] {
        let came = AtomicUsize::new(0);
        let long = one_of_each(&made.tuning)[2];
        run(made, size, |rank| {
            let (next, before) = ((rank.rank() + 1) % size, (rank.rank() + size - 1) % size);
            let bytes = pattern(7, long);
            rank.reserve(2, 2 * long);
            // The bytes go to the same peer as the first request of each barrier.
            let posted = (size > 1).then(|| rank.irecv_room(before, 1, long)).transpose()?;
            let sends = (size > 1).then(|| rank.isend_bytes(next, 1, &bytes)).transpose()?;
            for round in 1..=ROUNDS {
                came.fetch_add(1, Ordering::SeqCst);
                rank.barrier(size)?;
                // All `size` ranks have added one in each round so far.
                let counted = came.load(Ordering::SeqCst);
                assert!(counted >= round * size, "{counted} in round {round} of {size} ranks");
            }
            if let (Some((recv, into)), Some(send)) = (posted, sends) {
                rank.wait(recv)?;
                rank.assert_bytes(into, &bytes, "sent before the barriers");
                rank.wait(send)?;
            }
            Ok(())
        });
        assert_eq!(came.into_inner(), ROUNDS * size);
    }
}

/// A barrier of the first ranks waits for these ranks only, even if others have already reached
/// barriers of more ranks.
pub fn barriers_of_the_first_ranks(made: &Harness) {
    const ROUNDS: usize = 20;
    const SIZE: usize = 5;
    let came = [const { AtomicUsize::new(0) }; SIZE + 1];
    run(made, SIZE, |rank| {
        for round in 1..=ROUNDS {
            for (ranks, came) in came.iter().enumerate().skip(rank.rank() + 1) {
                came.fetch_add(1, Ordering::SeqCst);
                rank.barrier(ranks)?;
                let counted = came.load(Ordering::SeqCst);
                assert!(counted >= round * ranks, "{counted} in round {round} of {ranks} ranks");
            }
        }
        Ok(())
    });
}

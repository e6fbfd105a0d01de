//! More than two ranks.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Harness;
use super::ranks::{assert_bytes, one_of_each, pattern, run};

/// A receive of any source takes from all, each sender's messages in their order.
pub fn any_source<H: Harness>() {
    const SIZE: usize = 4;
    const MESSAGES: usize = 30;
    let lengths = one_of_each(&H::TUNING);
    let bytes = |from: usize, index: usize| {
        pattern((from * MESSAGES + index) as u64, lengths[(from + index) % 3])
    };
    run::<H>(SIZE, |rank| {
        let me = rank.rank();
        if me > 0 {
            for index in 0..MESSAGES {
                rank.send(0, me as u32, &bytes(me, index))?;
            }
            return Ok(());
        }
        let mut next = [0; SIZE];
        let mut into = vec![0; lengths[2]];
        for _ in 0..MESSAGES * (SIZE - 1) {
            let status = rank.recv(None, None, &mut into)?;
            assert_eq!(status.tag as usize, status.from);
            let expected = bytes(status.from, next[status.from]);
            assert_bytes(&into[..status.bytes], &expected, "the next of its sender");
            next[status.from] += 1;
        }
        assert_eq!(next, [0, MESSAGES, MESSAGES, MESSAGES]);
        Ok(())
    });
}

/// Every rank sends to every other at once, with each protocol.
pub fn all_to_all<H: Harness>() {
    for size in [3, 4] {
        run::<H>(size, |rank| {
            let me = rank.rank();
            for (tag, len) in one_of_each(&H::TUNING).into_iter().enumerate() {
                let tag = tag as u32;
                let seed = |from: usize, to: usize| (from * size + to) as u64;
                let others = (0..size).filter(|&peer| peer != me);
                let mut posted = Vec::new();
                for peer in others {
                    let recv = rank.irecv(peer, tag, vec![0; len])?;
                    let send = rank.isend(peer, tag, pattern(seed(me, peer), len))?;
                    posted.push((peer, recv, send));
                }
                for (peer, recv, send) in posted {
                    let (got, status) = rank.wait_recv(recv)?;
                    assert_eq!((status.from, status.bytes), (peer, len));
                    assert_bytes(&got, &pattern(seed(peer, me), len), "from everybody");
                    rank.wait_send(send)?;
                }
            }
            Ok(())
        });
    }
}

/// No rank leaves a barrier before all have come to it, and messages under way do not hold it up.
pub fn barriers<H: Harness>() {
    const ROUNDS: usize = 20;
    for size in [1, 2, 3, 5] {
        let came = AtomicUsize::new(0);
        let long = one_of_each(&H::TUNING)[2];
        run::<H>(size, |rank| {
            let next = (rank.rank() + 1) % size;
            // Its bytes go to the same peer as the first request of each barrier.
            let posted = (size > 1).then(|| rank.irecv(None, 1, vec![0; long])).transpose()?;
            let sends = (size > 1).then(|| rank.isend(next, 1, vec![7; long])).transpose()?;
            for round in 1..=ROUNDS {
                came.fetch_add(1, Ordering::SeqCst);
                rank.barrier()?;
                // All `size` ranks have added one in each round so far.
                let counted = came.load(Ordering::SeqCst);
                assert!(counted >= round * size, "{counted} in round {round} of {size} ranks");
            }
            if let (Some(recv), Some(send)) = (posted, sends) {
                let (got, _) = rank.wait_recv(recv)?;
                assert_bytes(&got, &vec![7; long], "sent before the barriers");
                rank.wait_send(send)?;
            }
            Ok(())
        });
        assert_eq!(came.into_inner(), ROUNDS * size);
    }
}

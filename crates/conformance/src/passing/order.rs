//! Which receive takes which message.

use std::thread;

use super::ranks::{finish, one_of_each, pair, pattern, run};
use crate::Harness;
use bandgap_comm::CommError;

/// Messages of a tag go to receives in the order in which these were posted, and a receive that
/// waits comes behind those that were posted before.
pub fn receives_in_posting_order<H: Harness>() {
    for len in one_of_each(&H::TUNING) {
        run::<H>(2, |rank| {
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
            // The fourth message: the three receives before it take the first three.
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
pub fn crowded_before_received<H: Harness>() {
    const MESSAGES: u64 = 1000;
    let [short, medium, _] = one_of_each(&H::TUNING);
    let length = |index: u64| if index.is_multiple_of(4) { medium } else { short };
    run::<H>(2, |rank| {
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

/// Messages that are there before their receives, and that a transport may deliver at once, go to
/// these in the order of their sends: also those behind one of another length.
pub fn bursts<H: Harness>() {
    let [short, medium, long] = one_of_each(&H::TUNING);
    for [len, other] in [[short, 8], [8, short], [medium, short], [medium, medium - 1], [long, 8]] {
        let mut pair = pair::<H>();
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
            // The last word of what it took may have been refused, and the sender waits for it.
            while !sending.is_finished() {
                there.progress().expect("a live peer");
                thread::yield_now();
            }
        });
        finish::<H>(pair);
    }
}

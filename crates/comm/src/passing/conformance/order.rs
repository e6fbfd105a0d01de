//! Which receive takes which message.

use super::Harness;
use super::ranks::{assert_bytes, finish, one_of_each, pair, pattern, run, turns};
use crate::passing::Status;

/// Messages of one sender and tag arrive in the order sent, though the later be shorter and travel
/// by a faster protocol.
pub fn order_is_kept<H: Harness>() {
    const MESSAGES: usize = 60;
    let lengths = one_of_each(&H::TUNING);
    // Long before short, short before long, and runs of each.
    let length = |index: usize| lengths[[2, 0, 1, 0, 0, 2, 2, 1, 1, 0][index % 10]];
    run::<H>(2, |rank| {
        if rank.rank() == 0 {
            let begin = |index| rank.isend(1, 5, pattern(index as u64, length(index)));
            let sends: Vec<_> = (0..MESSAGES).map(begin).collect::<Result<_, _>>()?;
            for send in sends {
                rank.wait_send(send)?;
            }
        } else {
            for index in 0..MESSAGES {
                let mut into = vec![0; lengths[2]];
                // Named or not: the oldest message comes.
                let status = match index % 3 {
                    0 => rank.recv(0, 5, &mut into)?,
                    1 => rank.recv(None, 5, &mut into)?,
                    _ => rank.recv(0, None, &mut into)?,
                };
                assert_eq!(status, Status { from: 0, tag: 5, bytes: length(index) }, "{index}");
                assert_bytes(&into[..status.bytes], &pattern(index as u64, status.bytes), "order");
            }
        }
        Ok(())
    });
}

/// A receive takes the message of its tag, whatever arrived before.
pub fn tags_choose<H: Harness>() {
    run::<H>(2, |rank| {
        for len in one_of_each(&H::TUNING) {
            let tags: Vec<u32> = vec![0, 1, u32::MAX, 7, 1 << 31];
            if rank.rank() == 0 {
                let begin = |&tag: &u32| rank.isend(1, tag, pattern(tag.into(), len));
                let sends: Vec<_> = tags.iter().map(begin).collect::<Result<_, _>>()?;
                for send in sends {
                    rank.wait_send(send)?;
                }
            } else {
                for &tag in tags.iter().rev() {
                    let mut into = vec![0; len];
                    let status = rank.recv(0, tag, &mut into)?;
                    assert_eq!(status, Status { from: 0, tag, bytes: len });
                    assert_bytes(&into, &pattern(tag.into(), len), "the message of its tag");
                }
            }
        }
        Ok(())
    });
}

/// Messages go to receives in the order in which these were posted, and a receive that waits comes
/// behind those that were posted before.
pub fn receives_in_posting_order<H: Harness>() {
    for len in one_of_each(&H::TUNING) {
        run::<H>(2, |rank| {
            let bytes = |index| pattern(index, len);
            if rank.rank() == 0 {
                rank.barrier()?;
                for index in 0..4 {
                    rank.send(1, 6, &bytes(index))?;
                }
                return Ok(());
            }
            let any = rank.irecv(None, None, vec![0; len])?;
            let other_tag = rank.irecv(0, 7, vec![0; len])?;
            let named = rank.irecv(0, 6, vec![0; len])?;
            let later = rank.irecv(0, None, vec![0; len])?;
            rank.barrier()?;
            // The fourth message: the three receives before it take the first three.
            let mut into = vec![0; len];
            rank.recv(0, 6, &mut into)?;
            assert_bytes(&into, &bytes(3), "the receive that waits");
            for (posted, index) in [(any, 0), (named, 1), (later, 2)] {
                assert!(rank.test_recv(&posted)?, "{index} was taken before");
                assert_bytes(&rank.wait_recv(posted)?.0, &bytes(index), "a posted receive");
            }
            assert!(!rank.test_recv(&other_tag)?);
            assert_eq!(rank.cancel(other_tag).expect("no message has its tag"), vec![0; len]);
            Ok(())
        });
    }
}

/// Many more messages than there are slots, and words than there is room for, arrive while their
/// receiver waits for another; none is lost, and they keep their order.
pub fn crowded_before_received<H: Harness>() {
    const MESSAGES: u64 = 1000;
    let [short, medium, _] = one_of_each(&H::TUNING);
    let length = |index: u64| if index.is_multiple_of(4) { medium } else { short };
    run::<H>(2, |rank| {
        if rank.rank() == 0 {
            for index in 0..MESSAGES {
                rank.send(1, (index % 3) as u32, &pattern(index, length(index)))?;
            }
            return rank.send(1, 9, &[]);
        }
        assert_eq!(rank.recv(0, 9, &mut [])?, Status { from: 0, tag: 9, bytes: 0 });
        let mut into = vec![0; medium];
        for tag in [2, 0, 1] {
            for index in (tag..MESSAGES).step_by(3) {
                let bytes = rank.recv(0, tag as u32, &mut into)?.bytes;
                assert_bytes(&into[..bytes], &pattern(index, length(index)), "a kept message");
            }
        }
        Ok(())
    });
}

/// A probe finds the message that a receive would take, and leaves it there.
pub fn probes<H: Harness>() {
    for len in one_of_each(&H::TUNING) {
        let mut pair = pair::<H>();
        assert_eq!(pair[1].iprobe(None, None).expect("nothing is wrong"), None);
        let sends = [(4, len), (5, 1)].map(|(tag, len)| {
            pair[0].isend(1, tag, pattern(tag.into(), len)).expect("a live peer")
        });
        turns::<H>(&mut pair, "two messages", |pair| {
            pair[1].iprobe(0, 5).expect("a live peer").is_some()
        });
        let first = Status { from: 0, tag: 4, bytes: len };
        for _ in 0..2 {
            assert_eq!(pair[1].iprobe(None, None).expect("a live peer"), Some(first));
            assert_eq!(pair[1].probe(0, None).expect("a live peer"), first);
            let second = Status { from: 0, tag: 5, bytes: 1 };
            assert_eq!(pair[1].probe(None, 5).expect("a live peer"), second);
            assert_eq!(pair[1].iprobe(0, 6).expect("a live peer"), None);
        }
        let posted = pair[1].irecv(None, 4, vec![0; len]).expect("a live peer");
        // It is taken, even if its bytes are still to come.
        assert_eq!(pair[1].iprobe(0, 4).expect("a live peer"), None);
        turns::<H>(&mut pair, "the message", |pair| {
            let received = pair[1].test_recv(&posted).expect("a live peer");
            received && pair[0].test_send(&sends[0]).expect("a live peer")
        });
        assert_bytes(&pair[1].wait_recv(posted).expect("there").0, &pattern(4, len), "probed");
        pair[1].recv(0, 5, &mut [0]).expect("it has arrived");
        for send in sends {
            pair[0].wait_send(send).expect("over");
        }
        finish::<H>(pair);
    }
}

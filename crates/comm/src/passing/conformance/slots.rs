//! Slots: who takes one, and when it comes back.

use super::Harness;
use super::ranks::{assert_bytes, finish, one_of_each, pair, pattern, run, turns};
use crate::passing::eager::InSlot;

/// A message takes a slot past the queues only where one is free and nothing waits to be sent; so
/// none is overtaken, and none is spoilt.
pub fn no_slot_is_taken_out_of_turn<H: Harness>() {
    let [_, len, _] = one_of_each(&H::TUNING);
    let slots = H::TUNING.slots;
    // As many as there are slots, of which the peer empties none; then one more that waits.
    for begun in [slots, slots + 1] {
        let [mut here, mut there] = pair::<H>();
        let bytes = |index: usize| pattern(index as u64, len);
        let mut sends: Vec<_> =
            (0..begun).map(|index| here.isend(1, 5, bytes(index)).expect("a live peer")).collect();
        let next = here.send_in_slot(1, 5, &bytes(begun)).expect("a live peer");
        assert_eq!(next, InSlot::NotNow, "{begun} of {slots}");
        sends.push(here.isend(1, 5, bytes(begun)).expect("a live peer"));
        let mut recvs: Vec<_> = (0..=begun)
            .map(|_| there.irecv(0, 5, vec![0; len]).expect("nobody misbehaves"))
            .collect();
        let mut both = [here, there];
        for (index, (recv, send)) in recvs.drain(..).zip(sends.drain(..)).enumerate() {
            turns::<H>(&mut both, "a message", |[here, there]| {
                let received = there.test_recv(&recv).expect("nobody sent garbage");
                received && here.test_send(&send).expect("a live peer")
            });
            let (got, _) = both[1].wait_recv(recv).expect("it came");
            assert_bytes(&got, &bytes(index), "in order");
            both[0].wait_send(send).expect("over");
        }
        finish::<H>(both);
    }
    // Behind a store of which the transport took a part.
    run::<H>(2, |rank| {
        for round in 0..50_u64 {
            let bytes = |index| pattern(2 * round + index, len);
            if rank.rank() == 0 {
                let first = rank.isend(1, 5, bytes(0))?;
                rank.send(1, 5, &bytes(1))?;
                rank.wait_send(first)?;
            } else {
                for index in 0..2 {
                    let mut into = vec![0; len];
                    rank.recv(0, 5, &mut into)?;
                    assert_bytes(&into, &bytes(index), "in order");
                }
            }
        }
        Ok(())
    });
}

/// A slot comes back after its bytes were copied out, also where a later message was waited for and
/// those of an earlier one are still to be copied.
pub fn slots_come_back_in_turn<H: Harness>() {
    let [_, len, _] = one_of_each(&H::TUNING);
    let slots = H::TUNING.slots;
    if slots < 4 {
        return;
    }
    let [mut here, mut there] = pair::<H>();
    let bytes = |tag: u32| pattern(tag.into(), len);
    let recvs = [1, 2].map(|tag| there.irecv(0, tag, vec![0; len]).expect("nobody misbehaves"));
    let mut sends = vec![];
    for tag in 1..=2 {
        sends.push(here.isend(1, tag, bytes(tag)).expect("a live peer"));
    }
    // Both arrive, and none is copied.
    while there.mail().work.len() < 2 {
        here.poll().expect("nobody sent garbage");
        there.active().poll().expect("nobody sent garbage");
    }
    for tag in 3..=4 {
        sends.push(here.isend(1, tag, bytes(tag)).expect("a live peer"));
        while !here.has_settled() {
            here.poll().expect("nobody sent garbage");
        }
        let mut into = vec![0; len];
        there.recv(0, tag, &mut into).expect("it is on its way");
        assert_bytes(&into, &bytes(tag), "the message that was waited for");
    }
    // What has come back is filled again.
    for _ in 0..100 {
        here.poll().expect("nobody sent garbage");
    }
    for tag in 5..5 + slots as u32 {
        sends.push(here.isend(1, tag, bytes(tag)).expect("a live peer"));
    }
    for (recv, tag) in recvs.into_iter().zip(1..) {
        let mut both = [here, there];
        turns::<H>(&mut both, "a message", |[_, there]| {
            there.test_recv(&recv).expect("nobody sent garbage")
        });
        [here, there] = both;
        let (got, _) = there.wait_recv(recv).expect("it came");
        assert_bytes(&got, &bytes(tag), "an earlier message");
    }
    let recvs: Vec<_> = (5..5 + slots as u32)
        .map(|tag| there.irecv(0, tag, vec![0; len]).expect("nobody misbehaves"))
        .collect();
    let mut both = [here, there];
    for (recv, tag) in recvs.into_iter().zip(5..) {
        turns::<H>(&mut both, "a message", |[_, there]| {
            there.test_recv(&recv).expect("nobody sent garbage")
        });
        let (got, _) = both[1].wait_recv(recv).expect("it came");
        assert_bytes(&got, &bytes(tag), "a later message");
    }
    for send in sends {
        turns::<H>(&mut both, "a send", |[here, _]| here.test_send(&send).expect("a live peer"));
        both[0].wait_send(send).expect("over");
    }
    finish::<H>(both);
}

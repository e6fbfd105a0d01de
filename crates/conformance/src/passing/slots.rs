//! Slots: who takes one, and when it comes back.

use super::ranks::{end, finish, one_of_each, pair, pattern, run};
use crate::{Harness, Result};

/// A message bypasses the queues into a slot only if a slot is free and nothing waits to be sent.
/// So it overtakes no message and overwrites none.
pub fn no_slot_is_taken_out_of_turn(made: &Harness) {
    let [_, len, _] = one_of_each(&made.tuning);
    let slots = made.tuning.slots;
    // As many messages as there are slots, none of which the peer empties; then one more, which
    // waits.
    for begun in [slots, slots + 1] {
        let [mut here, mut there] = pair(made);
        here.reserve(begun + 1, (begun + 1) * len);
        there.reserve(begun + 1, (begun + 1) * len);
        let bytes = |index: usize| pattern(index as u64, len);
        let send = |index| here.isend_bytes(1, 5, &bytes(index)).expect("a live peer");
        let sends: Vec<_> = (0..=begun).map(send).collect();
        let receive = |_| there.irecv_room(0, 5, len).expect("nobody misbehaves");
        let recvs: Vec<_> = (0..=begun).map(receive).collect();
        let mut both = [here, there];
        for (index, ((recv, into), send)) in recvs.into_iter().zip(sends).enumerate() {
            end(&mut both, 1, recv, "a message");
            both[1].assert_bytes(into, &bytes(index), "in order");
            end(&mut both, 0, send, "a send");
        }
        finish(both);
    }
    // The second message comes after a store that the transport took only in part.
    run(made, 2, |rank| {
        for round in 0..50_u64 {
            let bytes = |index| pattern(2 * round + index, len);
            rank.reserve(2, 2 * len);
            if rank.rank() == 0 {
                let first = rank.isend_bytes(1, 5, &bytes(0))?;
                rank.send_bytes(1, 5, &bytes(1))?;
                rank.wait(first)?;
            } else {
                for index in 0..2 {
                    let got = rank.recv_room(0, 5, len)?;
                    rank.assert_bytes(got, &bytes(index), "in order");
                }
            }
        }
        Ok(())
    });
}

/// A message that waits for a slot also gets one that arrives with the peer's messages, once that
/// has been copied out. If slots migrate, no other may come.
pub fn an_emptied_slot_serves_what_waits(made: &Harness) {
    let [_, len, _] = one_of_each(&made.tuning);
    let messages = made.tuning.slots + 1;
    run(made, 2, |rank| {
        let peer = 1 - rank.rank();
        for round in 0..50_u64 {
            // Both send one message more than they have slots, before either receives.
            rank.reserve(2 * messages, 2 * messages * len);
            let bytes =
                |from, index: usize| pattern(round + 1000 * from as u64 + index as u64, len);
            let send = |index| rank.isend_bytes(peer, 5, &bytes(1 - peer, index));
            let sends = (0..messages).map(send).collect::<Result<Vec<_>>>()?;
            for index in 0..messages {
                let got = rank.recv_room(peer, 5, len)?;
                rank.assert_bytes(got, &bytes(peer, index), "in order");
            }
            sends.into_iter().try_for_each(|send| rank.wait(send))?;
        }
        Ok(())
    });
}

/// A slot comes back only after its bytes were copied out, even if the receiver waited for a later
/// message while an earlier one still had to be copied.
pub fn slots_come_back_in_turn(made: &Harness) {
    let [_, len, _] = one_of_each(&made.tuning);
    let slots = made.tuning.slots;
    if slots < 4 {
        return;
    }
    let [mut here, mut there] = pair(made);
    here.reserve(4 + slots, (4 + slots) * len);
    there.reserve(4 + slots, (4 + slots) * len);
    let bytes = |tag: u32| pattern(tag.into(), len);
    let recvs = [1, 2].map(|tag| there.irecv_room(0, tag, len).expect("nobody misbehaves"));
    let sent = [1, 2].map(|tag| here.isend_bytes(1, tag, &bytes(tag)).expect("a live peer"));
    let mut sends = Vec::from(sent);
    // Both messages arrive, and neither is copied.
    let mut arrived = 0;
    while arrived < 2 {
        here.progress().expect("nobody sent garbage");
        arrived += there.active().poll().expect("nobody sent garbage");
    }
    for tag in 3..=4 {
        sends.push(here.isend_bytes(1, tag, &bytes(tag)).expect("a live peer"));
        while !here.has_settled() {
            here.progress().expect("nobody sent garbage");
        }
        let got = there.recv_room(0, tag, len).expect("it is on its way");
        there.assert_bytes(got, &bytes(tag), "the message that was waited for");
    }
    // Returned slots are filled again.
    for _ in 0..100 {
        here.progress().expect("nobody sent garbage");
    }
    let mut both = [here, there];
    let later = 5..5 + slots as u32;
    for tag in later.clone() {
        sends.push(both[0].isend_bytes(1, tag, &bytes(tag)).expect("a live peer"));
    }
    for ((recv, into), tag) in recvs.into_iter().zip(1..) {
        end(&mut both, 1, recv, "a message");
        both[1].assert_bytes(into, &bytes(tag), "an earlier message");
    }
    for tag in later {
        let (recv, into) = both[1].irecv_room(0, tag, len).expect("nobody misbehaves");
        end(&mut both, 1, recv, "a message");
        both[1].assert_bytes(into, &bytes(tag), "a later message");
    }
    for send in sends {
        end(&mut both, 0, send, "a send");
    }
    finish(both);
}

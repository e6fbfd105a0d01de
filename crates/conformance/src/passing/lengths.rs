//! Two ranks: messages of any length, whoever comes first.

use super::ranks::{around_limits, end, finish, one_of_each, pair, pattern, run, turns};
use crate::Harness;

/// Messages of all lengths around the limits arrive whole, and nothing beside them changes.
pub fn every_length<H: Harness>() {
    run::<H>(2, |rank| {
        for (index, len) in around_limits(&H::TUNING).into_iter().enumerate() {
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

/// Each protocol, with the receive posted before the message arrives and after.
pub fn posted_or_not<H: Harness>() {
    let lengths = one_of_each(&H::TUNING).into_iter().chain([0]);
    for (index, len) in lengths.enumerate() {
        let mut pair = pair::<H>();
        pair.iter_mut().for_each(|rank| rank.reserve(2, 2 * len));
        let bytes = pattern(index as u64, len);
        let from = pair[0].put(&bytes);

        let (posted, into) = pair[1].irecv_room(0, 3, len).expect("no peer misbehaves");
        pair[1].progress().expect("nothing was sent");
        assert!(!pair[1].is_over(&posted));
        let send = pair[0].isend(1, 3, from).expect("a live peer");
        end::<H>(&mut pair, 1, posted, "a message that is waited for");
        pair[1].assert_bytes(into, &bytes, "posted before");
        end::<H>(&mut pair, 0, send, "the send to be over");

        let send = pair[0].isend(1, 4, from).expect("a live peer");
        turns::<H>(&mut pair, "a message that nobody waits for", |pair| {
            pair[1].probe(0, 4).expect("a peer")
        });
        let (posted, into) = pair[1].irecv_room(0, 4, len).expect("no peer misbehaves");
        end::<H>(&mut pair, 1, posted, "the message");
        pair[1].assert_bytes(into, &bytes, "posted after");
        end::<H>(&mut pair, 0, send, "the send to be over");
        pair[0].assert_bytes(from, &bytes, "what was sent");
        finish::<H>(pair);
    }
}

/// Both ranks send long messages at once, by each of the ways there are.
pub fn both_ways_at_once<H: Harness>() {
    let long = (4 << 20).min(1000 * H::TUNING.chunk + 7);
    run::<H>(2, |rank| {
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

        // Every pair of protocols: each rank with its own length.
        let lengths = [0, 8, 24].into_iter().chain(one_of_each(&H::TUNING));
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

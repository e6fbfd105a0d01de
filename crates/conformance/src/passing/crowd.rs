//! More than two ranks.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::ranks::{one_of_each, pattern, run};
use crate::Harness;

/// No rank leaves a barrier before all have come to it. Messages under way do not delay it.
pub fn barriers<H: Harness>() {
    const ROUNDS: usize = 20;
    for size in [1, 2, 3, 5] {
        let came = AtomicUsize::new(0);
        let long = one_of_each(&H::TUNING)[2];
        run::<H>(size, |rank| {
            let (next, before) = ((rank.rank() + 1) % size, (rank.rank() + size - 1) % size);
            let bytes = pattern(7, long);
            rank.reserve(2, 2 * long);
            // Its bytes go to the same peer as the first request of each barrier.
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

/// A barrier of the first ranks waits for these ranks and for no others, even if others already
/// come to barriers of more ranks.
pub fn barriers_of_the_first_ranks<H: Harness>() {
    const ROUNDS: usize = 20;
    const SIZE: usize = 5;
    let came = [const { AtomicUsize::new(0) }; SIZE + 1];
    run::<H>(SIZE, |rank| {
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

//! More than two ranks.

use super::Harness;
use super::ranks::{ECHO, SINK, run};

/// Every rank sends to every other, at several sizes.
pub fn all_to_all<H: Harness>() {
    const ROUNDS: u64 = 40;
    for size in [2, 3, 5, 8] {
        let logs = run::<H>(size, |am| {
            let rank = am.rank();
            for round in 0..ROUNDS {
                for offset in 1..size {
                    let handler = if round % 2 == 0 { ECHO } else { SINK };
                    am.request((rank + offset) % size, handler, [rank as u64, round])?;
                }
            }
            Ok(())
        });
        for (rank, log) in logs.iter().enumerate() {
            for peer in (0..size).filter(|&peer| peer != rank) {
                let sent: Vec<_> = (0..ROUNDS).map(|round| [peer as u64, round]).collect();
                assert_eq!(log.requests_of(peer), sent, "from {peer} to {rank} of {size}");
                // Every second round asks for a reply.
                assert_eq!(log.replies_of(peer).len() as u64, ROUNDS / 2);
            }
        }
    }
}

/// Many ranks send to one, which only replies. None of them is left out.
pub fn fan_in<H: Harness>() {
    const SIZE: usize = 5;
    const REQUESTS: u64 = 300;
    let logs = run::<H>(SIZE, |am| {
        if am.rank() > 0 {
            for i in 0..REQUESTS {
                am.request(0, ECHO, [i])?;
            }
        }
        Ok(())
    });
    for (rank, log) in logs.iter().enumerate().skip(1) {
        let sent: Vec<_> = (0..REQUESTS).map(|i| [i]).collect();
        assert_eq!(logs[0].requests_of(rank), sent);
        let mut replies = log.replies_of(0);
        replies.sort_unstable();
        assert_eq!(replies, sent);
    }
    assert_eq!(logs[0].requests.len() as u64, REQUESTS * (SIZE as u64 - 1));
}
